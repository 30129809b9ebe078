/** Compares what clients saw with what the ledger, the usage log and the upstream say. Pure. */
import type { Attempt } from './clients.ts';
import type { Fault } from './faults.ts';

export interface BookedCharge {
  requestId: string;
  keyId: string;
  amount: bigint;
  /** When the request arrived, by the node's clock, in ms. */
  at: number;
  outcome: string;
}

export interface Books {
  price: bigint;
  charges: readonly BookedCharge[];
  /** What the usage log says of requests that cost nothing, by request id. */
  free: ReadonlyMap<string, string>;
  /** Answers that the upstream wrote to their end, by trace id. */
  completed: ReadonlyMap<string, number>;
  /** Trace ids of answers of which the upstream wrote any content. */
  begun: ReadonlySet<string>;
}

export interface Comparison {
  attempts: number;
  finished: number;
  charges: number;
  /** Charged more or less than it should be, in micro-USD. Must be 0. */
  differenceMicros: bigint;
  /** Idempotency-Keys that were used, and how many of them were charged. */
  keys: number;
  keysCharged: number;
  /** What the difference consists of. */
  findings: string[];
  /** Charged, but the node was killed between the commit and the last byte: known and unavoidable. */
  cutByKill: number;
  /** The client left after content, and was charged. */
  leftCharged: number;
  /** … and was not: its node was killed before the charge was durable, or its upstream broken off. */
  leftFreeByKill: number;
  leftFreeByUpstream: number;
}

/** The link whose faults break answers off: what an upstream breaks is free, whoever left meanwhile. */
const UPSTREAM_LINK = { kind: 'partition', target: 'nodes – upstream' } as const;

/** Clocks of client and node are one machine's; a request is this much longer under way at most, in ms. */
const SLACK_MS = 1_500;

/** Judges every attempt and every charge once. */
export function compare(attempts: readonly Attempt[], books: Books, faults: readonly Fault[]): Comparison {
  const result = nothingJudged(attempts, books);
  const differ = (micros: bigint, what: string): void => {
    result.differenceMicros += micros < 0n ? -micros : micros;
    result.findings.push(what);
  };
  const charges = new Map(books.charges.map((charge) => [charge.requestId, charge]));
  for (const { requestId, amount } of books.charges)
    if (amount !== books.price) differ(amount - books.price, `${requestId} was charged ${amount}`);
  const chargedKeys = new Set<string>();
  for (const attempt of attempts) {
    const charge = takeCharge(charges, attempt);
    if (charge && attempt.once !== null) {
      if (chargedKeys.has(attempt.once)) differ(charge.amount, `key ${attempt.once} was charged twice`);
      chargedKeys.add(attempt.once);
    }
    const what = `${attempt.requestId ?? 'a request'} (${describe(attempt)})`;
    if (attempt.finished) {
      if (!charge) differ(books.price, `${what} ended well and was never charged`);
      if (!books.completed.has(attempt.trace)) differ(books.price, `${what} ended before the model did`);
    } else if (attempt.left) {
      if (charge) result.leftCharged += 1;
      if (charge && !books.begun.has(attempt.trace))
        differ(charge.amount, `${what} left before there was any content and was charged`);
      if (charge || !attempt.content) continue;
      const why = whyFree(attempt, books, faults);
      if (why === 'kill') result.leftFreeByKill += 1;
      else if (why === 'upstream') result.leftFreeByUpstream += 1;
      else differ(books.price, `${what} left and was not charged`);
    } else if (charge) {
      const killed = meets(attempt, faults, { kind: 'kill', target: attempt.node });
      if (killed && books.completed.has(attempt.trace)) result.cutByKill += 1;
      else differ(charge.amount, `${what} failed and was charged (${charge.outcome})`);
    }
  }
  result.keysCharged = chargedKeys.size;
  for (const { requestId, amount } of charges.values())
    differ(amount, `${requestId} was charged and no client knows it`);
  return result;
}

function nothingJudged(attempts: readonly Attempt[], books: Books): Comparison {
  return {
    attempts: attempts.length,
    finished: attempts.filter(({ finished }) => finished).length,
    charges: books.charges.length,
    differenceMicros: 0n,
    keys: new Set(attempts.map(({ once }) => once)).size - 1,
    keysCharged: 0,
    findings: [],
    cutByKill: 0,
    leftCharged: 0,
    leftFreeByKill: 0,
    leftFreeByUpstream: 0,
  };
}

/** The charge of an attempt; where no answer came, so that its id is unknown, the one of its key and time. */
function takeCharge(charges: Map<string, BookedCharge>, attempt: Attempt): BookedCharge | undefined {
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

/** Why whoever left after content may have paid nothing; undefined where there is no reason for it. */
function whyFree(
  attempt: Attempt,
  { free }: Books,
  faults: readonly Fault[],
): 'kill' | 'upstream' | undefined {
  const freed = attempt.requestId === null ? undefined : free.get(attempt.requestId);
  // A node that was killed has no record of it; one that lived has written why it cost nothing.
  if (freed === undefined)
    return meets(attempt, faults, { kind: 'kill', target: attempt.node }) ? 'kill' : undefined;
  return freed === 'UPSTREAM_FAILED' && meets(attempt, faults, UPSTREAM_LINK) ? 'upstream' : undefined;
}

/** Whether a fault of this sort fell into the attempt, or into the time that its node was frozen since. */
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
