/** Compares what clients saw with the ledger, the usage log and the upstream after a chaos run. Pure. */
import type { Attempt } from './clients.ts';
import type { Fault } from './faults.ts';

/** A charge in the ledger, with its row of the usage log. */
export interface RecordedCharge {
  requestId: string;
  keyId: string;
  amount: bigint;
  /** When the request arrived, by the node's clock, in ms. */
  at: number;
  outcome: string;
}

/** Records of ledger, usage log and upstream. */
export interface Recorded {
  /** Price of a request in micro-USD. */
  price: bigint;
  charges: readonly RecordedCharge[];
  /** Outcomes of free requests in the usage log, by request id. */
  free: ReadonlyMap<string, string>;
  /** Number of answers that the upstream completed, by trace id. */
  completed: ReadonlyMap<string, number>;
  /** Trace ids of answers of which the upstream sent some content. */
  begun: ReadonlySet<string>;
}

export interface Comparison {
  attempts: number;
  finished: number;
  charges: number;
  /** Sum of wrong amounts in micro-USD. Must be 0. */
  differenceMicros: bigint;
  /** Number of Idempotency-Keys used, and of those charged. */
  keys: number;
  keysCharged: number;
  /** The causes of the difference. */
  findings: string[];
  /** Charged requests whose node was killed between the charge and the last byte: known and unavoidable. */
  cutByKill: number;
  /** Requests whose client left and that were charged. */
  leftCharged: number;
  /** Free requests whose client left after content: the node was killed before the charge was durable. */
  leftFreeByKill: number;
  /** Free requests whose client left after content: the upstream's connection failed. */
  leftFreeByUpstream: number;
}

/** The link to the upstream. A request is free if this link fails, even if the client left meanwhile. */
const UPSTREAM_LINK = { kind: 'partition', target: 'nodes – upstream' } as const;

/** Tolerance between the times of a client and of a fault, in ms; both use the clock of one machine. */
const SLACK_MS = 1_500;

/** Judges every attempt and every charge once. */
export function compare(
  attempts: readonly Attempt[],
  recorded: Recorded,
  faults: readonly Fault[],
): Comparison {
  const result = emptyComparison(attempts, recorded);
  const differ = (micros: bigint, finding: string): void => {
    result.differenceMicros += micros < 0n ? -micros : micros;
    result.findings.push(finding);
  };
  const charges = new Map(recorded.charges.map((charge) => [charge.requestId, charge]));
  for (const { requestId, amount } of recorded.charges)
    if (amount !== recorded.price) differ(amount - recorded.price, `${requestId} was charged ${amount}`);
  const chargedKeys = new Set<string>();
  for (const attempt of attempts) {
    const charge = takeCharge(charges, attempt);
    const key = attempt.idempotencyKey;
    if (charge && key !== null) {
      if (chargedKeys.has(key)) differ(charge.amount, `key ${key} was charged twice`);
      chargedKeys.add(key);
    }
    const what = `${attempt.requestId ?? 'a request'} (${describe(attempt)})`;
    if (attempt.finished) {
      if (!charge) differ(recorded.price, `${what} was complete and not charged`);
      if (!recorded.completed.has(attempt.trace))
        differ(recorded.price, `${what} was complete before the upstream completed it`);
    } else if (attempt.left) {
      if (charge) result.leftCharged += 1;
      if (charge && !recorded.begun.has(attempt.trace))
        differ(charge.amount, `${what} was charged although the client left before any content`);
      if (charge || !attempt.content) continue;
      const reason = reasonFree(attempt, recorded, faults);
      if (reason === 'kill') result.leftFreeByKill += 1;
      else if (reason === 'upstream') result.leftFreeByUpstream += 1;
      else differ(recorded.price, `${what} was left after content and not charged`);
    } else if (charge) {
      const killed = meets(attempt, faults, { kind: 'kill', target: attempt.node });
      if (killed && recorded.completed.has(attempt.trace)) result.cutByKill += 1;
      else differ(charge.amount, `${what} failed and was charged (${charge.outcome})`);
    }
  }
  result.keysCharged = chargedKeys.size;
  for (const { requestId, amount } of charges.values())
    differ(amount, `${requestId} was charged, but no client sent it`);
  return result;
}

function emptyComparison(attempts: readonly Attempt[], recorded: Recorded): Comparison {
  return {
    attempts: attempts.length,
    finished: attempts.filter(({ finished }) => finished).length,
    charges: recorded.charges.length,
    differenceMicros: 0n,
    keys: new Set(attempts.map(({ idempotencyKey }) => idempotencyKey)).size - 1,
    keysCharged: 0,
    findings: [],
    cutByKill: 0,
    leftCharged: 0,
    leftFreeByKill: 0,
    leftFreeByUpstream: 0,
  };
}

/**
 * Removes and returns the charge of an attempt; without an answer, finds it by API key and time instead of
 * id.
 */
function takeCharge(charges: Map<string, RecordedCharge>, attempt: Attempt): RecordedCharge | undefined {
  const { requestId, keyId, startedAt, endedAt } = attempt;
  const charge =
    requestId === null
      ? [...charges.values()].find(
          (each) => each.keyId === keyId && each.at >= startedAt - 1 && each.at <= endedAt,
        )
      : charges.get(requestId);
  if (charge) charges.delete(charge.requestId);
  return charge;
}

/** Why a request whose client left after content may be free; undefined if there is no reason. */
function reasonFree(
  attempt: Attempt,
  { free }: Recorded,
  faults: readonly Fault[],
): 'kill' | 'upstream' | undefined {
  const freed = attempt.requestId === null ? undefined : free.get(attempt.requestId);
  // A killed node has not reported the request; a live node has reported it as free, with the outcome.
  if (freed === undefined)
    return meets(attempt, faults, { kind: 'kill', target: attempt.node }) ? 'kill' : undefined;
  return freed === 'UPSTREAM_FAILED' && meets(attempt, faults, UPSTREAM_LINK) ? 'upstream' : undefined;
}

/** Whether such a fault happened during the attempt, or while its node was still frozen afterwards. */
function meets(
  attempt: Attempt,
  faults: readonly Fault[],
  { kind, target }: Pick<Fault, 'kind' | 'target'>,
): boolean {
  const frozen = faults.filter(
    (fault) => fault.kind === 'freeze' && fault.target === attempt.node && overlaps(fault, attempt),
  );
  const endedAt = Math.max(attempt.endedAt, ...frozen.map(({ to }) => to));
  return faults.some(
    (fault) => fault.kind === kind && fault.target === target && overlaps(fault, { ...attempt, endedAt }),
  );
}

function overlaps(fault: Fault, { startedAt, endedAt }: Pick<Attempt, 'startedAt' | 'endedAt'>): boolean {
  return fault.from <= endedAt + SLACK_MS && fault.to >= startedAt - SLACK_MS;
}

function describe({ status, streamed, content, left, node }: Attempt): string {
  const kind = streamed ? 'stream' : 'whole';
  return [node, kind, `status ${status}`, content ? 'content' : 'no content', left ? 'left' : 'stayed'].join(
    ', ',
  );
}
