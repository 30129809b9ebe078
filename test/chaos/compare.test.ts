/** Tests of the comparison after a chaos run: which cases are differences. */
import { expect, it } from 'vitest';
import type { Attempt } from './clients.ts';
import { compare } from './compare.ts';
import type { RecordedCharge } from './compare.ts';
import type { Fault } from './faults.ts';

const PRICE = 30_000n;
const AT = 1_795_000_000_000;

const attempt: Attempt = {
  keyId: 'key_1',
  node: 'node 1',
  trace: 'trace_1',
  idempotencyKey: null,
  streamed: true,
  startedAt: AT,
  endedAt: AT + 100,
  requestId: 'request_1',
  status: 200,
  reason: null,
  content: true,
  finished: false,
  left: false,
};
const charge: RecordedCharge = {
  requestId: 'request_1',
  keyId: 'key_1',
  amount: PRICE,
  at: AT,
  outcome: 'CLIENT_LEFT',
};
const fault = (kind: Fault['kind'], target: string, after = 0, lasts = 500): Fault => ({
  ...{ kind, target, how: '' },
  ...{ from: AT + after, to: AT + after + lasts },
});

/** Compares one attempt with the charges. `freed` is the outcome in the usage log if the request was free. */
function judge(
  seen: Partial<Attempt>,
  charges: readonly RecordedCharge[],
  {
    faults = [],
    freed,
    begun = ['trace_1'],
  }: { faults?: readonly Fault[]; freed?: string; begun?: string[] } = {},
) {
  const free = new Map(freed === undefined ? [] : [['request_1', freed]]);
  const recorded = {
    price: PRICE,
    charges,
    free,
    completed: new Map([['trace_1', 1]]),
    begun: new Set(begun),
  };
  const { differenceMicros, ...counts } = compare([{ ...attempt, ...seen }], recorded, faults);
  return { difference: differenceMicros, ...counts };
}

it.each([
  ['nothing happened', []],
  ['the control plane was killed', [fault('kill', 'control plane')]],
  ['the other node was killed', [fault('kill', 'node 2')]],
  ['its node was frozen', [fault('freeze', 'node 1')]],
  ['its node was killed long after', [fault('kill', 'node 1', 10_000)]],
  ['the control plane was out of reach', [fault('partition', 'nodes – control plane')]],
])('a free request whose client left after content is a difference if %s', (_name, faults) => {
  expect(judge({ left: true }, [], { faults })).toMatchObject({
    difference: PRICE,
    findings: [expect.stringContaining('not charged')],
  });
});

it.each([
  ['its node was killed', [fault('kill', 'node 1')]],
  [
    'its node was killed as soon as it was no longer frozen',
    [fault('freeze', 'node 1', 0, 3_000), fault('kill', 'node 1', 4_000)],
  ],
])('a free request whose client left after content is no difference if %s', (_name, faults) => {
  const none = { difference: 0n, leftFreeByKill: 1 };
  expect(judge({ left: true }, [], { faults })).toMatchObject(none);
  // A free request in the usage log shows that the node was alive.
  const freed = 'NO_CONTENT';
  expect(judge({ left: true }, [], { faults, freed }).difference).toBe(PRICE);
});

it('a free request whose client left after content is no difference if its upstream failed', () => {
  const [faults, freed] = [[fault('partition', 'nodes – upstream')], 'UPSTREAM_FAILED'];
  const none = { difference: 0n, leftFreeByUpstream: 1 };
  expect(judge({ left: true }, [], { faults, freed })).toMatchObject(none);
  expect(judge({ left: true }, [], { freed }).difference).toBe(PRICE);
  expect(judge({ left: true }, [], { faults }).difference).toBe(PRICE);
});

it('a request whose client left may be charged after content and free before it', () => {
  expect(judge({ left: true }, [charge])).toMatchObject({ difference: 0n, leftCharged: 1 });
  expect(judge({ left: true, content: false }, [])).toMatchObject({ difference: 0n, leftCharged: 0 });
});

it.each<[string, Partial<Attempt>, RecordedCharge[]]>([
  ['a complete answer without a charge', { finished: true }, []],
  ['a failure with a charge', {}, [charge]],
  ['a charge of another amount', { finished: true }, [{ ...charge, amount: PRICE + 1n }]],
  ['a charge without a client', { requestId: 'request_2', finished: true }, [charge]],
  ['a complete answer that the upstream did not complete', { finished: true, trace: 'trace_2' }, [charge]],
])('%s is a difference', (_name, seen, charges) => {
  expect(judge(seen, charges).difference).toBeGreaterThan(0n);
});

it('an Idempotency-Key that was charged twice is a difference', () => {
  const twice = [attempt, { ...attempt, requestId: 'request_2' }].map((each) => ({
    ...each,
    idempotencyKey: 'key',
    finished: true,
  }));
  const charges = [charge, { ...charge, requestId: 'request_2' }];
  const begun = new Set(['trace_1']);
  const recorded = { price: PRICE, charges, free: new Map(), completed: new Map([['trace_1', 2]]), begun };
  expect(compare(twice, recorded, []).findings).toEqual(['key key was charged twice']);
});

it('a charged request whose client left before content is a difference if the upstream sent none', () => {
  const seen = { left: true, content: false };
  expect(judge(seen, [charge])).toMatchObject({ difference: 0n, leftCharged: 1 });
  expect(judge(seen, [charge], { begun: [] })).toMatchObject({
    difference: PRICE,
    findings: [expect.stringContaining('left before any content')],
  });
  expect(judge(seen, [], { begun: [] })).toMatchObject({ difference: 0n });
});
