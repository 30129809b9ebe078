/**
 * `npm run suites -- COMMAND …`: runs other people's tests against a complete gateway, once for each upstream
 * format. The command finds the address in SUITE_URL (without `/v1`), the key in SUITE_KEY, and the model in
 * SUITE_MODEL. The upstream is a simulated model that gives the answers which the tests expect.
 * docs/conformance.md lists the results.
 */
import { spawn } from 'node:child_process';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import { FORMATS, startSpeakingUpstream } from '../sdk/upstream.ts';
import { withPostgres } from '../with-postgres.ts';
import { addObedientAnswers } from './answers.ts';

/** Runs the command. Returns its exit code. */
function run(command: readonly string[], env: Record<string, string>): Promise<number> {
  const [program = '', ...rest] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(program, rest, { stdio: 'inherit', env: { ...process.env, ...env } });
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

async function main(command: readonly string[]): Promise<number> {
  if (command.length === 0) {
    process.stderr.write('Name the command that runs the tests: npm run suites -- COMMAND …\n');
    return 2;
  }
  return withPostgres('suites', async (databaseUrl) => {
    const upstream = await startSpeakingUpstream({ addAnswers: addObedientAnswers });
    try {
      return await runOverAll(command, databaseUrl, upstream.origin);
    } finally {
      await upstream.stop();
    }
  });
}

/** Runs the command once for each upstream format. Returns 0 if it succeeded every time, else 1. */
async function runOverAll(command: readonly string[], databaseUrl: string, origin: string): Promise<number> {
  const house = await startHouse({ databaseUrl });
  try {
    for (const { protocol, prefix, model } of FORMATS)
      await addUpstream(house, { name: protocol, protocol, baseUrl: origin + prefix, models: [model] });
    const { key } = await addCustomer(house, '1000');
    let failed = 0;
    for (const { protocol, model } of FORMATS) {
      process.stdout.write(`\n=== over ${protocol} ===\n`);
      const code = await run(command, { SUITE_URL: house.url, SUITE_KEY: key, SUITE_MODEL: model });
      failed += code === 0 ? 0 : 1;
    }
    process.stdout.write(`\nThe command failed over ${failed} of ${FORMATS.length} formats.\n`);
    return failed === 0 ? 0 : 1;
  } finally {
    await house.stop();
  }
}

process.exitCode = await main(process.argv.slice(2));
