/** A client set up as the console says: its texts, written into an empty home folder, and run. */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SECRET_PLACE } from '@gateway/shared/secret-place';
import type { Client } from '../../control-plane/snippets/snippet.texts.ts';
import type { House } from '../house.ts';
import type { ApiClient } from '../house/client.ts';

/** A file below the home folder, or what is typed. */
export interface SetUpFile {
  path: string;
  content: string;
}

/** What the console shows of a client. */
export interface SetUp {
  client: Client;
  files: SetUpFile[];
  verifyCommand: string;
  notes: string[];
}

const FIELDS = 'clientSnippets { client files { path content } verifyCommand notes }';

/** The texts of the dialog in which a key is revealed, with its secret put in as the console does it. */
export async function setUpsOfKey(
  api: ApiClient,
  { keyId, key }: { keyId: string; key: string },
): Promise<ReadonlyMap<Client, SetUp>> {
  const { node } = await api.query<{ node: { clientSnippets: SetUp[] } }>(
    `query ($id: ID!) { node(id: $id) { ... on ApiKey { ${FIELDS} } } }`,
    { id: keyId },
  );
  return filledIn(node.clientSnippets, key);
}

/** The texts of a model's page. */
export async function setUpsOfModel(
  api: ApiClient,
  { model, key }: { model: string; key: string },
): Promise<ReadonlyMap<Client, SetUp>> {
  const { catalogModel } = await api.query<{ catalogModel: { clientSnippets: SetUp[] } }>(
    `query ($name: String!) { catalogModel(name: $name) { ${FIELDS} } }`,
    { name: model },
  );
  return filledIn(catalogModel.clientSnippets, key);
}

function filledIn(setUps: readonly SetUp[], key: string): ReadonlyMap<Client, SetUp> {
  const filled = (text: string): string => text.replaceAll(SECRET_PLACE, key);
  return new Map(
    setUps.map((setUp) => [
      setUp.client,
      {
        ...setUp,
        files: setUp.files.map(({ path, content }) => ({ path, content: filled(content) })),
        verifyCommand: filled(setUp.verifyCommand),
      },
    ]),
  );
}

/** Writes the files into the home folder; what remains is typed, and returned as one text. */
export function layOut(files: readonly SetUpFile[], home: string): string {
  const typed: string[] = [];
  for (const { path, content } of files) {
    if (path.startsWith('~/')) {
      const file = join(home, path.slice('~/'.length));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    } else {
      typed.push(content);
    }
  }
  return typed.join('\n');
}

export interface Typed {
  /** Lines for a POSIX shell; the last one is the call of a program. */
  text: string;
  /** Put behind that last line. */
  arguments?: readonly string[];
  /** The home folder, in which it runs. */
  home: string;
  /** Where programs are looked for first. */
  programs?: string;
  /** Besides PATH and HOME, all that there is. */
  env?: Record<string, string>;
  /** Ended after this, in ms. */
  timeout: number;
}

export interface Printed {
  code: number | null;
  out: string;
  /** With what went to the standard error, in the order in which it came. */
  all: string;
}

/** Types it into a shell that knows nothing but this home folder. */
export function type(typed: Typed): Promise<Printed> {
  const { text, home, programs, env, timeout } = typed;
  const parts = [...(programs ? [programs] : []), dirname(process.execPath), process.env['PATH'] ?? ''];
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `${text} "$@"`, 'sh', ...(typed.arguments ?? [])], {
      cwd: home,
      env: { PATH: parts.join(':'), HOME: home, TERM: 'dumb', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout,
    });
    const printed = { out: '', all: '' };
    child.stdout.on('data', (piece: Buffer) => {
      printed.out += piece.toString('utf8');
      printed.all += piece.toString('utf8');
    });
    child.stderr.on('data', (piece: Buffer) => {
      printed.all += piece.toString('utf8');
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...printed }));
  });
}

/** How many requests with a key the books have charged up to now. */
export async function chargesOf({ database }: House, keyId: string): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*)::int as count from usage_charge join usage_entry using (request_id) where key_id = $1',
    [keyId],
  );
  return rows[0]?.count ?? 0;
}
