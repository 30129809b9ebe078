/**
 * `npm run race -- --rounds N`: 64 clients send 50 requests each to two nodes, on a wallet with credit for
 * exactly k requests. Prints one line per round. Exits with 1 if a round had not exactly k answers and
 * charges.
 */
import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../../control-plane/local/postgres.ts';
import { race } from './run.ts';
import type { Round } from './run.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    clients: { type: 'string', default: '64' },
    requests: { type: 'string', default: '50' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'gateway-race-'));
// If run by root, PostgreSQL runs as another user, who must be able to enter this folder.
chmodSync(folder, 0o711);
const postgres = await startPostgres({ dataDir: folder });

const OPTIONS = {
  databaseUrl: postgres.url,
  rounds: Number(values.rounds),
  clients: Number(values.clients),
  requestsEach: Number(values.requests),
  moneyFor: (round: number) => 1 + ((round * 37) % 120),
};

const isExact = ({ moneyFor, statuses, charges, leftMicros }: Round): boolean =>
  statuses[200] === moneyFor && charges === moneyFor && leftMicros === 0;

async function runRounds(): Promise<Round[]> {
  try {
    return await race(OPTIONS, report);
  } finally {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(round: Round): void {
  process.stdout.write(
    `${isExact(round) ? 'exact' : 'WRONG'}: credit for ${round.moneyFor}, answers ` +
      `${JSON.stringify(round.statuses)}, ${round.charges} charges, ${round.milliseconds} ms\n`,
  );
  for (const [text, count] of Object.entries(round.unavailable))
    process.stdout.write(`  503, ${count} times: ${text}\n`);
}

const rounds = await runRounds();
const wrong = rounds.filter((round) => !isExact(round)).length;
process.stdout.write(`${rounds.length} rounds, ${wrong} wrong\n`);
process.exit(wrong === 0 ? 0 : 1);
