/** Each word of the control plane on a lease, and its silence, means one thing to the money. */
import { expect, test } from 'vitest';
import type { NodeLeaseAnswer } from '@gateway/shared/node-api';
import { ControlError } from '../control-error.ts';
import { askForLease, closeLease, understand } from './lease-calls.ts';
import type { LeaseCaller } from './lease-calls.ts';
import { PRICE, WALLET } from './model/desk.ts';
import { beginWith, purseFor } from './state.ts';
import { emptyBook } from './book.ts';

const NO_LEASE = { leaseId: null, granted: '0.00', cash: '0.00', gift: '0.00', deadlineMs: 0 };
const silent = { warn: () => undefined };

test('a granted lease has its amount in micro-dollars and its deadline', () => {
  const answer = { leaseId: 'lease_1', granted: '1.25', cash: '1.25', gift: '0.00', deadlineMs: 86_400_000 };
  expect(understand(7, { ...answer, userErrors: [] }, silent)).toEqual({
    type: 'GRANTED',
    no: 7,
    leaseId: 'lease_1',
    amount: 1_250_000n,
    deadlineMs: 86_400_000,
  });
});

test.each([
  ['CONFLICT', { type: 'CONFLICT', no: 7 }],
  ['INSUFFICIENT_BALANCE', { type: 'REFUSED', no: 7, code: 'insufficient_funds' }],
  ['SPEND_LIMIT_REACHED', { type: 'REFUSED', no: 7, code: 'spend_limit_reached' }],
  ['WALLET_FROZEN', { type: 'REFUSED', no: 7, code: 'wallet_frozen' }],
])('%s is understood, and is nothing to log', (code, event) => {
  const told: object[] = [];
  const answer = { ...NO_LEASE, userErrors: [{ code, message: 'words' }] };
  expect(understand(7, answer, { warn: (fields) => void told.push(fields) })).toEqual(event);
  expect(told).toEqual([]);
});

test.each([
  ['a word that is not known', NO_LEASE, [{ code: 'TEAPOT', message: 'short and stout' }], 'TEAPOT'],
  ['no lease and no reason', NO_LEASE, [], undefined],
  ['an amount that cannot be read', { ...NO_LEASE, leaseId: 'lease_1', granted: 'lots' }, [], undefined],
  ['an amount without a lease', { ...NO_LEASE, granted: '5.00' }, [], undefined],
])('%s grants nothing, is never said to be the balance, and is logged', (_, answer, userErrors, code) => {
  const told: { fields: object; message: string }[] = [];
  const log = { warn: (fields: object, message: string) => void told.push({ fields, message }) };
  expect(understand(7, { ...answer, userErrors }, log)).toEqual({
    type: 'REFUSED',
    no: 7,
    code: 'unavailable',
  });
  expect(told).toEqual([{ fields: { code, reason: userErrors[0]?.message }, message: expect.any(String) }]);
  expect(told[0]?.message).toMatch(/unknown reason/);
});

const CLOSE = { type: 'CLOSE', leaseId: 'lease_1', count: 3, sum: 3n * PRICE } as const;

/** Collects what the control plane is asked, and answers it so; a failure where it does not answer. */
function caller(answers: Partial<LeaseCaller['control']>, nodeId: string | undefined = 'node_1') {
  const told: object[] = [];
  const away = () => Promise.reject(new Error('no answer'));
  const control = { requestLease: away, closeLease: away, ...answers };
  const log = { warn: (fields: object) => void told.push(fields) };
  return { told, who: { control, log, journalId: 'journal_1', nodeId } };
}

function question(keyId: string | null) {
  const purse = purseFor(beginWith(emptyBook('journal_1')), { walletId: WALLET, keyId });
  const amounts = { want: 10n * PRICE, need: PRICE, waiting: 2n * PRICE };
  const sent = { sentAt: { mono: 0, wall: 0 }, attempts: 0, resendAt: null, former: false };
  return { purse, request: { no: 7, purseId: purse.id, ...amounts, ...sent } };
}

test.each([null, 'key_1'])(
  'a lease is asked for in dollars, under its number, for the key %s',
  async (keyId) => {
    const asked: object[] = [];
    const granted: NodeLeaseAnswer = { ...NO_LEASE, leaseId: 'lease_1', granted: '0.001', userErrors: [] };
    const { who } = caller({ requestLease: async (input) => (asked.push(input), granted) });
    expect(await askForLease(who, question(keyId))).toMatchObject({ type: 'GRANTED', no: 7, amount: 1_000n });
    const names = { nodeId: 'node_1', journalId: 'journal_1', requestNo: 7, walletId: WALLET };
    const amounts = { want: '0.001', need: '0.0001', waiting: '0.0002' };
    expect(asked).toStrictEqual([{ ...names, ...(keyId !== null && { keyId }), ...amounts }]);
  },
);

test.each([
  [2 ** 31 - 1, { requestNo: 2 ** 31 - 1 }],
  [2 ** 31, { requestNo: 0, requestNumber: '2147483648' }],
])('the question number %d goes where there is room for it', async (no, numbers) => {
  const asked: object[] = [];
  const granted: NodeLeaseAnswer = { ...NO_LEASE, leaseId: 'lease_1', granted: '0.001', userErrors: [] };
  const { who } = caller({ requestLease: async (input) => (asked.push(input), granted) });
  const { purse, request } = question(null);
  expect(await askForLease(who, { purse, request: { ...request, no } })).toMatchObject({ no });
  const names = { nodeId: 'node_1', journalId: 'journal_1', walletId: WALLET };
  expect(asked).toStrictEqual([{ ...names, ...numbers, want: '0.001', need: '0.0001', waiting: '0.0002' }]);
});

test('a lease is given back with what was charged to it', async () => {
  const asked: object[] = [];
  const { who, told } = caller({
    closeLease: async (input) => (asked.push(input), { ok: true, userErrors: [] }),
  });
  expect(await closeLease(who, CLOSE)).toEqual({ type: 'CLOSED', leaseId: 'lease_1' });
  const names = { nodeId: 'node_1', journalId: 'journal_1', leaseId: 'lease_1' };
  expect(asked).toEqual([{ ...names, count: 3, sum: '0.0003' }]);
  expect(told).toEqual([]);
});

test('who gets no answer keeps question and lease, and so does a node that nobody knows yet', async () => {
  const never = () => Promise.reject(new Error('it was asked'));
  const unknown = { ...caller({ requestLease: never, closeLease: never }).who, nodeId: undefined };
  for (const who of [caller({}).who, unknown]) {
    expect(await askForLease(who, question(null))).toEqual({ type: 'UNANSWERED', no: 7 });
    expect(await closeLease(who, CLOSE)).toEqual({ type: 'NOT_CLOSED', leaseId: 'lease_1' });
  }
});

test('a question that cannot be read is refused, and stands in the way of no other', async () => {
  const unreadable = new ControlError('nodeLeaseRequest got no answer', 'BAD_USER_INPUT', undefined);
  const { who, told } = caller({ requestLease: () => Promise.reject(unreadable) });
  expect(await askForLease(who, question(null))).toEqual({ type: 'REFUSED', no: 7, code: 'unavailable' });
  expect(told).toEqual([{ reason: unreadable.message }]);
  const away = new ControlError('nodeLeaseRequest got no answer', undefined, undefined);
  const silence = caller({ requestLease: () => Promise.reject(away) });
  expect(await askForLease(silence.who, question(null))).toEqual({ type: 'UNANSWERED', no: 7 });
  expect(silence.told).toEqual([]);
});

test.each([
  ['CONFLICT', 'NOT_CLOSED'],
  ['NOT_FOUND', 'CLOSED'],
])('a lease whose return is refused as %s is %s, and that is logged', async (code, type) => {
  const refused = { ok: false, userErrors: [{ code, message: 'words' }] };
  const { who, told } = caller({ closeLease: async () => refused });
  expect(await closeLease(who, CLOSE)).toEqual({ type, leaseId: 'lease_1' });
  expect(told).toEqual([{ leaseId: 'lease_1', count: 3, reason: 'words' }]);
});
