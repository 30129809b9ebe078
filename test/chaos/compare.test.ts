/** What the comparison of a chaos run calls a difference. */
import { expect, it } from 'vitest';
import type { Attempt } from './clients.ts';
import { compare } from './compare.ts';
import type { BookedCharge } from './compare.ts';
import type { Fault } from './faults.ts';

const PRICE = 30_000n;
const AT = 1_795_000_000_000;

const attempt: Attempt = {
  keyId: 'key_1',
  node: 'node 1',
  trace: 'trace_1',
  once: null,
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
const charge: BookedCharge = {
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

/** `freed` is what the usage log says of the request where it cost nothing. */
function judge(
  seen: Partial<Attempt>,
  charges: readonly BookedCharge[],
  {
    faults = [],
    freed,
    begun = ['trace_1'],
  }: { faults?: readonly Fault[]; freed?: string; begun?: string[] } = {},
) {
  const free = new Map(freed === undefined ? [] : [['request_1', freed]]);
  const books = { price: PRICE, charges, free, completed: new Map([['trace_1', 1]]), begun: new Set(begun) };
  const { differenceMicros, ...counts } = compare([{ ...attempt, ...seen }], books, faults);
  return { difference: differenceMicros, ...counts };
}

it.each([
  ['nothing happened', []],
  ['the control plane was killed', [fault('kill', 'control plane')]],
  ['the other node was killed', [fault('kill', 'node 2')]],
  ['its node was frozen', [fault('freeze', 'node 1')]],
  ['its node was killed long after', [fault('kill', 'node 1', 10_000)]],
  ['the control plane was out of reach', [fault('partition', 'nodes – control plane')]],
])('who leaves after content and is not charged although %s is a difference', (_name, faults) => {
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
])('who leaves after content and is not charged because %s is none', (_name, faults) => {
  const none = { difference: 0n, leftFreeByKill: 1 };
  expect(judge({ left: true }, [], { faults })).toMatchObject(none);
  // A node that lived to write that it cost nothing was not stopped by that.
  const freed = 'NO_CONTENT';
  expect(judge({ left: true }, [], { faults, freed }).difference).toBe(PRICE);
});

it('who leaves after content and is not charged because its upstream was broken off is none', () => {
  const [faults, freed] = [[fault('partition', 'nodes – upstream')], 'UPSTREAM_FAILED'];
  const none = { difference: 0n, leftFreeByUpstream: 1 };
  expect(judge({ left: true }, [], { faults, freed })).toMatchObject(none);
  expect(judge({ left: true }, [], { freed }).difference).toBe(PRICE);
  expect(judge({ left: true }, [], { faults }).difference).toBe(PRICE);
});

it('who leaves is charged after content, and not before it', () => {
  expect(judge({ left: true }, [charge])).toMatchObject({ difference: 0n, leftCharged: 1 });
  expect(judge({ left: true, content: false }, [])).toMatchObject({ difference: 0n, leftCharged: 0 });
});

it.each<[string, Partial<Attempt>, BookedCharge[]]>([
  ['an answer that nobody charged', { finished: true }, []],
  ['a failure that was charged', {}, [charge]],
  ['another amount', { finished: true }, [{ ...charge, amount: PRICE + 1n }]],
  ['a charge that no client knows', { requestId: 'request_2', finished: true }, [charge]],
  ['an answer that the model never ended', { finished: true, trace: 'trace_2' }, [charge]],
])('%s is a difference', (_name, seen, charges) => {
  expect(judge(seen, charges).difference).toBeGreaterThan(0n);
});

it('what its key was charged for twice is a difference', () => {
  const twice = [attempt, { ...attempt, requestId: 'request_2' }].map((each) => ({
    ...each,
    once: 'key',
    finished: true,
  }));
  const charges = [charge, { ...charge, requestId: 'request_2' }];
  const begun = new Set(['trace_1']);
  const books = { price: PRICE, charges, free: new Map(), completed: new Map([['trace_1', 2]]), begun };
  expect(compare(twice, books, []).findings).toEqual(['key key was charged twice']);
});

it('who leaves without having seen content may be charged, unless the upstream never wrote any', () => {
  const seen = { left: true, content: false };
  expect(judge(seen, [charge])).toMatchObject({ difference: 0n, leftCharged: 1 });
  expect(judge(seen, [charge], { begun: [] })).toMatchObject({
    difference: PRICE,
    findings: [expect.stringContaining('before there was any content')],
  });
  expect(judge(seen, [], { begun: [] })).toMatchObject({ difference: 0n });
});
