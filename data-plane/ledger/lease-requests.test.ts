/** Lease messages: their content, and the event that each answer or failure stands for. */
import { expect, test } from 'vitest';
import type { NodeLeaseAnswer } from '@gateway/shared/lease-api';
import { ControlError } from '../control/error.ts';
import { closeLease, eventOfAnswer, requestLease } from './lease-requests.ts';
import type { LeaseRequestContext } from './lease-requests.ts';
import { PRICE, WALLET } from '../../test/ledger/rules-harness.ts';
import { budgetFor, initialLedgerState } from './state.ts';
import { emptyJournalState } from './journal-state.ts';

const NO_LEASE = { leaseId: null, granted: '0.00', cash: '0.00', gift: '0.00', deadlineMs: 0 };
const silent = { warn: () => undefined };

test('a grant is an event with the amount in micro-USD and the deadline', () => {
  const answer = { leaseId: 'lease_1', granted: '1.25', cash: '1.25', gift: '0.00', deadlineMs: 86_400_000 };
  expect(eventOfAnswer(7, { ...answer, userErrors: [] }, silent)).toEqual({
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
])('the refusal %s is an event, and is not logged', (code, event) => {
  const logged: object[] = [];
  const answer = { ...NO_LEASE, userErrors: [{ code, message: 'words' }] };
  expect(eventOfAnswer(7, answer, { warn: (fields) => void logged.push(fields) })).toEqual(event);
  expect(logged).toEqual([]);
});

test.each([
  ['an unknown error code', NO_LEASE, [{ code: 'TEAPOT', message: 'short and stout' }], 'TEAPOT'],
  ['no lease and no reason', NO_LEASE, [], undefined],
  ['an unreadable amount', { ...NO_LEASE, leaseId: 'lease_1', granted: 'lots' }, [], undefined],
  ['an amount without a lease', { ...NO_LEASE, granted: '5.00' }, [], undefined],
])('an answer with %s is a refusal as unavailable, and is logged', (_, answer, userErrors, code) => {
  const logged: { fields: object; message: string }[] = [];
  const log = { warn: (fields: object, message: string) => void logged.push({ fields, message }) };
  expect(eventOfAnswer(7, { ...answer, userErrors }, log)).toEqual({
    type: 'REFUSED',
    no: 7,
    code: 'unavailable',
  });
  expect(logged).toEqual([{ fields: { code, reason: userErrors[0]?.message }, message: expect.any(String) }]);
  expect(logged[0]?.message).toMatch(/unknown reason/);
});

const CLOSE = { type: 'CLOSE', leaseId: 'lease_1', count: 3, sum: 3n * PRICE } as const;

/** A context whose control plane gives these answers and fails every other call; and its log. */
function contextWith(
  answers: Partial<LeaseRequestContext['control']>,
  nodeId: string | undefined = 'node_1',
) {
  const logged: object[] = [];
  const away = () => Promise.reject(new Error('no answer'));
  const control = { requestLease: away, closeLease: away, ...answers };
  const log = { warn: (fields: object) => void logged.push(fields) };
  return { logged, context: { control, log, journalId: 'journal_1', nodeId } };
}

function newRequest(keyId: string | null) {
  const budget = budgetFor(initialLedgerState(emptyJournalState('journal_1')), { walletId: WALLET, keyId });
  const amounts = { want: 10n * PRICE, need: PRICE, waiting: 2n * PRICE };
  const sent = { sentAt: { mono: 0, wall: 0 }, attempts: 0, resendAt: null, fromEarlierProcess: false };
  return { budget, request: { no: 7, budgetId: budget.id, ...amounts, ...sent } };
}

test.each([null, 'key_1'])(
  'a lease request has its number and its amounts in dollars, for the key %s',
  async (keyId) => {
    const sent: object[] = [];
    const granted: NodeLeaseAnswer = { ...NO_LEASE, leaseId: 'lease_1', granted: '0.001', userErrors: [] };
    const { context } = contextWith({ requestLease: async (input) => (sent.push(input), granted) });
    expect(await requestLease(context, newRequest(keyId))).toMatchObject({
      type: 'GRANTED',
      no: 7,
      amount: 1_000n,
    });
    const names = { nodeId: 'node_1', journalId: 'journal_1', requestNo: 7, walletId: WALLET };
    const amounts = { want: '0.001', need: '0.0001', waiting: '0.0002' };
    expect(sent).toStrictEqual([{ ...names, ...(keyId !== null && { keyId }), ...amounts }]);
  },
);

test.each([
  [2 ** 31 - 1, { requestNo: 2 ** 31 - 1 }],
  [2 ** 31, { requestNo: 0, requestNumber: '2147483648' }],
])('the request number %d is sent in the field that can hold it', async (no, numbers) => {
  const sent: object[] = [];
  const granted: NodeLeaseAnswer = { ...NO_LEASE, leaseId: 'lease_1', granted: '0.001', userErrors: [] };
  const { context } = contextWith({ requestLease: async (input) => (sent.push(input), granted) });
  const { budget, request } = newRequest(null);
  expect(await requestLease(context, { budget, request: { ...request, no } })).toMatchObject({ no });
  const names = { nodeId: 'node_1', journalId: 'journal_1', walletId: WALLET };
  expect(sent).toStrictEqual([{ ...names, ...numbers, want: '0.001', need: '0.0001', waiting: '0.0002' }]);
});

test('a close message has the number and the sum of the charges', async () => {
  const sent: object[] = [];
  const { context, logged } = contextWith({
    closeLease: async (input) => (sent.push(input), { ok: true, userErrors: [] }),
  });
  expect(await closeLease(context, CLOSE)).toEqual({ type: 'CLOSED', leaseId: 'lease_1' });
  const names = { nodeId: 'node_1', journalId: 'journal_1', leaseId: 'lease_1' };
  expect(sent).toEqual([{ ...names, count: 3, sum: '0.0003' }]);
  expect(logged).toEqual([]);
});

test('without an answer, or before the node is registered, requests and leases stay open', async () => {
  const never = () => Promise.reject(new Error('a message was sent'));
  const unregistered = {
    ...contextWith({ requestLease: never, closeLease: never }).context,
    nodeId: undefined,
  };
  for (const context of [contextWith({}).context, unregistered]) {
    expect(await requestLease(context, newRequest(null))).toEqual({ type: 'UNANSWERED', no: 7 });
    expect(await closeLease(context, CLOSE)).toEqual({ type: 'NOT_CLOSED', leaseId: 'lease_1' });
  }
});

test('a request that the control plane cannot read is given up as refused, and logged', async () => {
  const unreadable = new ControlError('nodeLeaseRequest got no answer', 'BAD_USER_INPUT', undefined);
  const { context, logged } = contextWith({ requestLease: () => Promise.reject(unreadable) });
  expect(await requestLease(context, newRequest(null))).toEqual({
    type: 'REFUSED',
    no: 7,
    code: 'unavailable',
  });
  expect(logged).toEqual([{ reason: unreadable.message }]);
  const away = new ControlError('nodeLeaseRequest got no answer', undefined, undefined);
  const unreachable = contextWith({ requestLease: () => Promise.reject(away) });
  expect(await requestLease(unreachable.context, newRequest(null))).toEqual({ type: 'UNANSWERED', no: 7 });
  expect(unreachable.logged).toEqual([]);
});

test.each([
  ['CONFLICT', 'NOT_CLOSED'],
  ['NOT_FOUND', 'CLOSED'],
])('a close message that is refused with %s leads to %s, and is logged', async (code, type) => {
  const refused = { ok: false, userErrors: [{ code, message: 'words' }] };
  const { context, logged } = contextWith({ closeLease: async () => refused });
  expect(await closeLease(context, CLOSE)).toEqual({ type, leaseId: 'lease_1' });
  expect(logged).toEqual([{ leaseId: 'lease_1', count: 3, reason: 'words' }]);
});
