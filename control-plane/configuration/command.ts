/**
 * The command `gateway`: applies and exports the configuration and prints the audit log through the API of a
 * control plane; makes the first access token and works on the archive of the usage log in the database.
 */
import 'reflect-metadata';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { createFirstToken } from './first-token.ts';
import { askApi } from './api-call.ts';
import { runArchiveCommand } from './archive.ts';
import { printAuditLog } from './audit-log.ts';
import { printChanges } from './print-changes.ts';
import type { ShownChange } from './print-changes.ts';
import { readOptions } from './options.ts';
import type { Options } from './options.ts';
import { readSecrets } from './references.ts';
import { readEnvironment } from '../process/environment.ts';
import { readDocument } from './yaml.ts';

const APPLY = `mutation ($input: AdminConfigurationInput!) { adminConfigurationApply(input: $input) {
  changes { kind name action fields { name before after } } state userErrors { code message } } }`;
const EXPORT = '{ admin { configuration } }';

/** The parts of the process that the command uses. */
interface Process {
  environment: NodeJS.ProcessEnv;
  print(line: string): void;
  /** Asks for a yes; without a terminal it answers yes. */
  confirm(question: string): Promise<boolean>;
}

/** Runs a command and returns the exit code. Throws an Error with advice if it fails. */
export async function run(argv: readonly string[], process: Process): Promise<number> {
  const options = readOptions(argv, process.environment);
  if (options.command === 'help') process.print(HELP);
  else if (options.command === 'token') await printToken(options, process);
  else if (options.command === 'audit') await printAuditLog(options, process.print);
  else if (options.command === 'archive') return runArchiveCommand(options.archive, process);
  else if (options.command === 'export') process.print((await exported(options)).trimEnd());
  else return apply(options, process);
  return 0;
}

const HELP = `gateway apply -f FILE [--dry-run] [--yes] [--reason TEXT]   shows and makes the changes
gateway export                                              prints the present configuration
gateway audit [--after POSITION] [--follow] [--state FILE]  prints the audit log, one JSON object a line
gateway token --name NAME --scopes SCOPE,… [--days N] [--email ADDRESS]   makes an access token
gateway archive list                 prints the archived files of the usage log, one JSON object a line
gateway archive now                  archives the expired partitions now
gateway archive check                reads all archived files and compares them with their records
gateway archive forget PARTITION     deletes the records of a partition that still has its rows

apply, export and audit need GATEWAY_URL (the address of the console) and GATEWAY_TOKEN (an access token).
token and archive need the DATABASE_URL of the control plane; archive now and check also its USAGE_ARCHIVE….`;

/** Shows the changes, asks on a terminal, and makes exactly these changes. */
async function apply(options: Options, { environment, print, confirm }: Process): Promise<number> {
  const source = readFileSync(options.file, 'utf8');
  const given = readSecrets(readDocument(source), environment);
  const secrets = [...given].map(([reference, secret]) => ({ reference, secret }));
  const input = { document: source, secrets, reason: options.reason };
  const planned = await send(options, { ...input, dryRun: true });
  printChanges(planned.changes, print);
  if (planned.changes.length === 0 || options.dryRun) return 0;
  if (!options.yes && !(await confirm('Make these changes?'))) {
    print('Nothing was changed.');
    return 1;
  }
  const { changes } = await send(options, { ...input, dryRun: false, expectedState: planned.state });
  print(`Made ${changes.length} changes.`);
  return 0;
}

interface Plan {
  changes: ShownChange[];
  state: string;
}

async function send(options: Options, input: Record<string, unknown>): Promise<Plan> {
  const { adminConfigurationApply: payload } = await askApi<{
    adminConfigurationApply: Plan & { userErrors: { code: string; message: string }[] };
  }>(options, { query: APPLY, variables: { input } });
  const [problem] = payload.userErrors;
  if (problem) throw new Error(`${problem.code}: ${problem.message}`);
  return payload;
}

async function exported(options: Options): Promise<string> {
  const { admin } = await askApi<{ admin: { configuration: string } | null }>(options, { query: EXPORT });
  if (admin) return admin.configuration;
  throw new Error('GATEWAY_TOKEN has no scope of administrators. Make one with `gateway token`.');
}

async function printToken({ token }: Options, { environment, print }: Process): Promise<void> {
  const databaseUrl = environment['DATABASE_URL'];
  if (!databaseUrl) throw new Error('DATABASE_URL is not set. Set it to the address of the database.');
  print(await createFirstToken(databaseUrl, token));
}

/** Asks on a terminal. A script has no terminal and has chosen to run the command. */
async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${question} [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

if (/[/\\](command\.js|gateway)$/.test(process.argv[1] ?? '')) {
  const print = (line: string): boolean => process.stdout.write(`${line}\n`);
  try {
    process.exitCode = await run(process.argv.slice(2), { environment: readEnvironment(), print, confirm });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
