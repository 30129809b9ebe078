/**
 * Sets up a client as the console says: writes the files that it shows into an empty home folder, and runs
 * it.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { KEY_PLACEHOLDER } from '@gateway/shared/key-placeholder';
import type { Client } from '../../control-plane/snippets/snippet.texts.ts';
import type { House } from '../house.ts';
import type { ApiClient } from '../house/client.ts';

/** A file below the home folder, or lines for a shell. */
export interface SetUpFile {
  path: string;
  content: string;
}

/** Instructions that the console shows for a client. */
export interface SetUp {
  client: Client;
  files: SetUpFile[];
  verifyCommand: string;
  notes: string[];
}

const FIELDS = 'clientSnippets { client files { path content } verifyCommand notes }';

/**
 * Instructions of the dialog that reveals a key, with the secret in place of the placeholder.
 */
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

/** Instructions of the page of a model, with the secret in place of the placeholder. */
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
  const filled = (text: string): string => text.replaceAll(KEY_PLACEHOLDER, key);
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

/** Writes the files into the home folder. Returns the lines for a shell as one text. */
export function writeSetUp(files: readonly SetUpFile[], home: string): string {
  const shellTexts: string[] = [];
  for (const { path, content } of files) {
    if (path.startsWith('~/')) {
      const file = join(home, path.slice('~/'.length));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
    } else {
      shellTexts.push(content);
    }
  }
  return shellTexts.join('\n');
}

export interface ShellRun {
  /** Lines for a POSIX shell; the last one is a command. */
  text: string;
  /** Added to the command. */
  arguments?: readonly string[];
  /** Home folder and working directory. */
  home: string;
  /** First folder of PATH. */
  programs?: string;
  /** The environment, apart from PATH, HOME and TERM. */
  env?: Record<string, string>;
  /** The shell is killed after this time, in ms. */
  timeout: number;
}

export interface ShellResult {
  code: number | null;
  /** Standard output. */
  out: string;
  /** Standard output and standard error, in the order of arrival. */
  all: string;
}

/** Runs the lines in a shell with this home folder and none of the variables of this process but PATH. */
export function runInShell(run: ShellRun): Promise<ShellResult> {
  const { text, home, programs, env, timeout } = run;
  const parts = [...(programs ? [programs] : []), dirname(process.execPath), process.env['PATH'] ?? ''];
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `${text} "$@"`, 'sh', ...(run.arguments ?? [])], {
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

/** Number of charged requests of a key so far. */
export async function chargesOf({ database }: House, keyId: string): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    'select count(*)::int as count from usage_charge join usage_entry using (request_id) where key_id = $1',
    [keyId],
  );
  return rows[0]?.count ?? 0;
}
