/** The check of the ledger that runs beside requests: what it finds is measured and logged. */
import { Gauge } from 'prom-client';
import type { EntityManager } from '@mikro-orm/postgresql';
import { registry } from '../metrics.ts';
import { checkInvariants } from './invariants.ts';
import type { Violation } from './invariants.ts';

const CHECK_LEDGER_MS = 60_000;
/** The check reads the whole ledger: it may take a twentieth of one core at most. */
const CHECK_REST_TIMES = 20;

const violations = new Gauge({
  name: 'gateway_ledger_violations',
  help: 'What the last check of the ledger found, by rule.',
  labelNames: ['rule'],
  registers: [registry],
});
const checkedAt = new Gauge({
  name: 'gateway_ledger_checked_timestamp_seconds',
  help: 'When the last check of the ledger that came to its end did so, in Unix time; 0 before the first.',
  registers: [registry],
});

/** How often the ledger is checked: every minute, or as seldom as its size demands. */
export const CHECK_LEDGER = { everyMs: CHECK_LEDGER_MS, restTimes: CHECK_REST_TIMES };

/** Checks the ledger once; what breaks an invariant is measured and logged. */
export async function checkLedger(
  em: EntityManager,
  log?: (line: Record<string, unknown>) => void,
): Promise<void> {
  const found = await checkInvariants(em);
  violations.reset();
  for (const [rule, list] of Map.groupBy(found, (violation: Violation) => violation.rule)) {
    violations.set({ rule }, list.length);
  }
  for (const violation of found)
    log?.({ level: 'error', message: 'The ledger breaks an invariant.', ...violation });
  checkedAt.setToCurrentTime();
}
