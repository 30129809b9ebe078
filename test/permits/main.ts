/**
 * `npm run permits`: checks a cap of 60 requests a minute over three real nodes under double load, while a
 * node and the control plane are killed. Prints one line per part. Exits with 1 if the cap was exceeded in
 * any 60 s.
 */
import { parseArgs } from 'node:util';
import { withPostgres } from '../with-postgres.ts';
import { runPermits } from './run.ts';
import type { Part, RunResult } from './run.ts';

const MINUTE_MS = 60_000;
const { values } = parseArgs({
  options: {
    cap: { type: 'string', default: '60' },
    load: { type: 'string', default: '120' },
    minutes: { type: 'string', default: '3' },
  },
});
const rpmCap = Number(values.cap);

function run(): Promise<RunResult> {
  const steadyMs = Number(values.minutes) * MINUTE_MS;
  const parts = { steadyMs, nodeKilledMs: MINUTE_MS, controlAwayMs: 2 * MINUTE_MS, afterMs: 2 * MINUTE_MS };
  return withPostgres('permits', (databaseUrl) =>
    runPermits({ databaseUrl, rpmCap, perMinute: Number(values.load), ...parts }, printPart),
  );
}

function printPart({ name, minutes, reached, statuses }: Part): void {
  const perMinute = (reached / minutes).toFixed(1);
  process.stdout.write(
    `${name}: ${perMinute} a minute for ${minutes} min, answers ${JSON.stringify(statuses)}\n`,
  );
}

const { worst, reached } = await run();
process.stdout.write(`${reached} admitted, at most ${worst} in any 60 s (cap ${rpmCap})\n`);
process.exit(worst <= rpmCap ? 0 : 1);
