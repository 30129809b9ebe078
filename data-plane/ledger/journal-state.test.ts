/** The journal state: how each record changes it, and its checkpoint. */
import { describe, expect, test } from 'vitest';
import { fromCheckpoint, toCheckpoint, emptyJournalState, applyRecord } from './journal-state.ts';
import type { JournalState, JournalRecord } from './journal-state.ts';
import { chargeOf } from '../../test/ledger/records.ts';

const PRICE = 100n;
const requested = (no: number): JournalRecord => ({
  ...{ type: 'requested', no, walletId: 'wallet_a', keyId: null },
  ...{ want: '1000', need: '100' },
});
const granted = (no: number): JournalRecord => ({
  type: 'granted',
  no,
  leaseId: `lease_${no}`,
  amount: '1000',
});
const charged = (seq: number, leaseId = 'lease_1'): JournalRecord =>
  chargeOf(`request_${seq}`, PRICE, { seq, leaseId });

function stateOf(...records: JournalRecord[]): JournalState {
  const state = emptyJournalState('journal_1');
  for (const record of records) applyRecord(state, record);
  return state;
}

describe('the journal state', () => {
  test('starts empty, with the first numbers', () => {
    expect(emptyJournalState('journal_1')).toEqual({
      ...{ journalId: 'journal_1', nextSeq: 1, settledSeq: 0, nextRequestNo: 1 },
      ...{ requests: new Map(), leases: new Map(), quarantined: new Map() },
    });
  });

  test('keeps a lease request until it is answered, and never reuses its number', () => {
    const state = stateOf(requested(4), requested(2));
    expect(state.nextRequestNo).toBe(5);
    expect(state.requests.get(4)).toEqual({ walletId: 'wallet_a', keyId: null, want: 1_000n, need: 100n });
    applyRecord(state, { type: 'refused', no: 4 });
    applyRecord(state, granted(2));
    expect(state.requests.size).toBe(0);
    expect(state.leases).toEqual(
      new Map([
        ['lease_2', { walletId: 'wallet_a', keyId: null, amount: 1_000n, count: 0, sum: 0n, settled: 0 }],
      ]),
    );
    expect(state.nextRequestNo).toBe(5);
  });

  test('counts the charges and the settled charges of each lease', () => {
    const state = stateOf(requested(1), granted(1), charged(1), charged(2), charged(3));
    expect(state).toMatchObject({ nextSeq: 4, settledSeq: 0 });
    applyRecord(state, {
      type: 'settled',
      seq: 2,
      leases: [
        { leaseId: 'lease_1', count: 2, rejected: 1, rejectedSum: '100' },
        { leaseId: 'lease_9', count: 1, rejected: 0, rejectedSum: '0' },
      ],
    });
    expect(state.settledSeq).toBe(2);
    expect(state.leases.get('lease_1')).toMatchObject({ count: 2, sum: 2n * PRICE, settled: 1 });
    applyRecord(state, { type: 'settled', seq: 1, leases: [] });
    expect(state.settledSeq).toBe(2);
    applyRecord(state, { type: 'closed', leaseId: 'lease_1' });
    expect(state.leases.size).toBe(0);
  });

  test('counts quarantined charges as unsettled charges of their lease', () => {
    const state = stateOf(requested(1), granted(1), charged(1), charged(2));
    applyRecord(state, { type: 'settled', seq: 2, leases: [], parked: [[2, 'line 2']] });
    expect(state).toMatchObject({ settledSeq: 2, quarantined: new Map([[2, 'line 2']]) });
    expect(state.leases.get('lease_1')).toMatchObject({ count: 2, settled: 0 });
    expect(fromCheckpoint(JSON.parse(JSON.stringify(toCheckpoint(state))))).toEqual(state);
    const leases = [{ leaseId: 'lease_1', count: 1, rejected: 0, rejectedSum: '0' }];
    applyRecord(state, { type: 'settled', seq: 2, leases, unparked: [2] });
    expect(state).toMatchObject({ settledSeq: 2, quarantined: new Map() });
    expect(state.leases.get('lease_1')).toMatchObject({ count: 2, settled: 1 });
  });

  test('rejects a grant without a request, a charge without a lease and a charge out of order', () => {
    expect(() => stateOf(granted(1))).toThrow('lease_1 was granted without a request');
    expect(() => stateOf(requested(1), granted(1), granted(1))).toThrow('without a request');
    expect(() => stateOf(charged(1))).toThrow('charge 1 belongs to a lease that is not open');
    expect(() => stateOf(requested(1), granted(1), charged(2))).toThrow(
      'found charge 2 where charge 1 is expected',
    );
    expect(() => stateOf({ type: 'melted' } as never)).toThrow('unknown type');
  });

  test('is equal after a round trip through its checkpoint', () => {
    const state = stateOf(requested(1), granted(1), charged(1), requested(2));
    const checkpoint = toCheckpoint(state) as { requests: unknown; leases: unknown };
    // The names are part of the file format.
    expect(Object.keys(checkpoint)).toEqual([
      ...['journalId', 'nextSeq', 'settledSeq', 'nextRequestNo', 'requests', 'leases', 'parked'],
    ]);
    const { requests, leases } = checkpoint;
    expect(JSON.parse(JSON.stringify({ requests, leases }))).toEqual({
      requests: [[2, { walletId: 'wallet_a', keyId: null, want: '1000', need: '100' }]],
      leases: [
        ['lease_1', { walletId: 'wallet_a', keyId: null, amount: '1000', count: 1, sum: '100', settled: 0 }],
      ],
    });
    expect(fromCheckpoint(JSON.parse(JSON.stringify(toCheckpoint(state))))).toEqual(state);
  });
});
