/** The ledger check that the control plane runs on a schedule; it sets metrics and logs violations. */
import { Gauge } from 'prom-client';
import type { EntityManager } from '@mikro-orm/postgresql';
import { registry } from '../process/metrics.ts';
import { checkNew } from './incremental-check.ts';
import type { Violation } from './invariants.ts';

const CHECK_LEDGER_MS = 60_000;
/** Idle time after a check, as a multiple of its duration: the check uses at most a twentieth of one core. */
const CHECK_REST_TIMES = 20;

const violations = new Gauge({
  name: 'gateway_ledger_violations',
  help: 'Violations found by the last ledger check, by rule.',
  labelNames: ['rule'],
  registers: [registry],
});
const checkedAt = new Gauge({
  name: 'gateway_ledger_checked_timestamp_seconds',
  help: 'Unix time at which the last ledger check finished; 0 before the first.',
  registers: [registry],
});

/** Schedule of the ledger check: every minute, less often if a check takes long. */
export const CHECK_LEDGER = { everyMs: CHECK_LEDGER_MS, idleFactor: CHECK_REST_TIMES };

/** Checks what is new in the ledger, sets the metrics and logs each violation. */
export async function checkLedger(
  em: EntityManager,
  log?: (line: Record<string, unknown>) => void,
): Promise<void> {
  const found = await checkNew(em);
  violations.reset();
  for (const [rule, list] of Map.groupBy(found, (violation: Violation) => violation.rule)) {
    violations.set({ rule }, list.length);
  }
  for (const violation of found)
    log?.({ level: 'error', message: 'The ledger breaks an invariant.', ...violation });
  checkedAt.setToCurrentTime();
}
