/** The arguments and variables of the command `gateway`. */
import { parseArgs } from 'node:util';

/** The token to make. */
export interface TokenOptions {
  name: string;
  scopes: string[];
  days: number;
  /** Address of the administrator who owns it; null if there is only one. */
  email: string | null;
}

/** The part of the audit log that `gateway audit` prints. */
export interface AuditOptions {
  /** Position after which the events begin. */
  after: string;
  follow: boolean;
  /** File that keeps the position of the last printed event; null keeps none. */
  stateFile: string | null;
}

/** The action of `gateway archive`, and its partition. */
export interface ArchiveOptions {
  action: (typeof ARCHIVE_ACTIONS)[number];
  /** The partition of `forget`; empty for the others. */
  partition: string;
}

/** One call of the command. */
export interface Options {
  command: (typeof COMMANDS)[number];
  /** The configuration file of `apply`. */
  file: string;
  dryRun: boolean;
  yes: boolean;
  reason: string;
  /** Address of the control plane, without a slash at the end. */
  url: string;
  accessToken: string;
  token: TokenOptions;
  audit: AuditOptions;
  archive: ArchiveOptions;
}

const COMMANDS = ['apply', 'export', 'audit', 'archive', 'token', 'help'] as const;
/** Commands that need no control plane and no access token. */
const LOCAL: readonly string[] = ['archive', 'token', 'help'];
const ARCHIVE_ACTIONS = ['list', 'now', 'check', 'forget'] as const;

/** Reads arguments and variables. Throws an Error that says what to write. */
export function readOptions(argv: readonly string[], environment: NodeJS.ProcessEnv): Options {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      file: { type: 'string', short: 'f', default: '' },
      'dry-run': { type: 'boolean', default: false },
      yes: { type: 'boolean', short: 'y', default: false },
      reason: { type: 'string', default: 'gateway apply' },
      name: { type: 'string', default: 'gateway' },
      scopes: { type: 'string', default: '' },
      days: { type: 'string', default: '90' },
      email: { type: 'string' },
      after: { type: 'string', default: '0' },
      follow: { type: 'boolean', default: false },
      state: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const command = commandOf(values.help ? 'help' : positionals[0]);
  if (command === 'apply' && values.file === '')
    throw new Error('Name the file: gateway apply -f gateway.yaml');
  const url = (environment['GATEWAY_URL'] ?? '').replace(/\/+$/, '');
  const accessToken = environment['GATEWAY_TOKEN'] ?? '';
  if (!LOCAL.includes(command)) requireAccess(url, accessToken);
  return {
    command,
    file: values.file,
    dryRun: values['dry-run'],
    yes: values.yes,
    reason: values.reason,
    url,
    accessToken,
    token: {
      name: values.name,
      scopes: values.scopes.split(',').filter((scope) => scope !== ''),
      days: Number(values.days),
      email: values.email ?? null,
    },
    audit: { after: values.after, follow: values.follow, stateFile: values.state ?? null },
    archive: archiveOptions(command, positionals),
  };
}

function commandOf(word: string | undefined): Options['command'] {
  const command = COMMANDS.find((each) => each === (word ?? 'help'));
  if (command) return command;
  throw new Error(`There is no command ${word}. Use apply, export, audit, archive, token or help.`);
}

function archiveOptions(command: string, [, word = 'list', partition = '']: string[]): ArchiveOptions {
  if (command !== 'archive') return { action: 'list', partition: '' };
  const action = ARCHIVE_ACTIONS.find((each) => each === word);
  if (!action) throw new Error(`There is no gateway archive ${word}. Use list, now, check or forget.`);
  if (action === 'forget' && partition === '')
    throw new Error('Name the partition: gateway archive forget usage_entry_2026_01');
  return { action, partition };
}

function requireAccess(url: string, accessToken: string): void {
  if (!URL.canParse(url)) throw new Error('GATEWAY_URL is not set. Set it to the address of the console.');
  if (!accessToken.startsWith('gqt_'))
    throw new Error('GATEWAY_TOKEN is not set. Set it to an access token, or make one with `gateway token`.');
}
