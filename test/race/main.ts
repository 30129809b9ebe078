/**
 * `npm run race -- --rounds N`: 64 clients send 50 requests each to two nodes, on a wallet with credit for
 * exactly k requests. Prints one line per round. Exits with 1 if a round had not exactly k answers and
 * charges.
 */
import { parseArgs } from 'node:util';
import { withPostgres } from '../with-postgres.ts';
import { race } from './run.ts';
import type { Round } from './run.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    clients: { type: 'string', default: '64' },
    requests: { type: 'string', default: '50' },
  },
});

const OPTIONS = {
  rounds: Number(values.rounds),
  clients: Number(values.clients),
  requestsEach: Number(values.requests),
  moneyFor: (round: number) => 1 + ((round * 37) % 120),
};

const isExact = ({ moneyFor, statuses, charges, leftMicros }: Round): boolean =>
  statuses[200] === moneyFor && charges === moneyFor && leftMicros === 0;

function runRounds(): Promise<Round[]> {
  return withPostgres('race', (databaseUrl) => race({ ...OPTIONS, databaseUrl }, report));
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
