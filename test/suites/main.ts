/**
 * `npm run suites -- COMMAND …`: runs other people's tests against a complete gateway, once for each upstream
 * format. The command finds the address in SUITE_URL (without a version), the key in SUITE_KEY, and the model
 * in SUITE_MODEL. The upstream is a model that does what the tests ask for. docs/conformance.md lists the
 * results.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { addCustomer, addUpstream, startHouse } from '../house.ts';
import { FORMATS, startSpeakingUpstream } from '../sdk/upstream.ts';
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
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-suites-'));
  // Started by the superuser, PostgreSQL runs as another user, who must be able to enter the folder.
  chmodSync(dataDir, 0o711);
  const postgres = await startPostgres({ dataDir });
  const upstream = await startSpeakingUpstream({ addAnswers: addObedientAnswers });
  try {
    const house = await startHouse({ databaseUrl: postgres.url });
    try {
      for (const { protocol, prefix, model } of FORMATS)
        await addUpstream(house, {
          name: protocol,
          protocol,
          baseUrl: upstream.origin + prefix,
          models: [model],
        });
      const { key } = await addCustomer(house, '1000');
      let failed = 0;
      for (const { protocol, model } of FORMATS) {
        process.stdout.write(`\n=== over ${protocol} ===\n`);
        const code = await run(command, { SUITE_URL: house.url, SUITE_KEY: key, SUITE_MODEL: model });
        failed += code === 0 ? 0 : 1;
      }
      process.stdout.write(`\nThe tests failed over ${failed} of ${FORMATS.length} formats.\n`);
      return failed === 0 ? 0 : 1;
    } finally {
      await house.stop();
    }
  } finally {
    await upstream.stop();
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

process.exitCode = await main(process.argv.slice(2));
