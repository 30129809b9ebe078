/** What the records of a journal add up to. */
import { describe, expect, test } from 'vitest';
import { bookFromJson, bookToJson, emptyBook, enter } from './book.ts';
import type { Book, JournalRecord } from './book.ts';
import { chargeOf } from './model/records.ts';

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

function bookOf(...records: JournalRecord[]): Book {
  const book = emptyBook('journal_1');
  for (const record of records) enter(book, record);
  return book;
}

describe('a book', () => {
  test('begins with nothing, and with the first numbers', () => {
    expect(emptyBook('journal_1')).toEqual({
      ...{ journalId: 'journal_1', nextSeq: 1, settledSeq: 0, nextRequestNo: 1 },
      ...{ requests: new Map(), leases: new Map(), parked: new Map() },
    });
  });

  test('keeps a question until it is answered, and never gives its number again', () => {
    const book = bookOf(requested(4), requested(2));
    expect(book.nextRequestNo).toBe(5);
    expect(book.requests.get(4)).toEqual({ walletId: 'wallet_a', keyId: null, want: 1_000n, need: 100n });
    enter(book, { type: 'refused', no: 4 });
    enter(book, granted(2));
    expect(book.requests.size).toBe(0);
    expect(book.leases).toEqual(
      new Map([
        ['lease_2', { walletId: 'wallet_a', keyId: null, amount: 1_000n, count: 0, sum: 0n, settled: 0 }],
      ]),
    );
    expect(book.nextRequestNo).toBe(5);
  });

  test('counts charges lease by lease, and what is settled of them', () => {
    const book = bookOf(requested(1), granted(1), charged(1), charged(2), charged(3));
    expect(book).toMatchObject({ nextSeq: 4, settledSeq: 0 });
    enter(book, {
      type: 'settled',
      seq: 2,
      leases: [
        { leaseId: 'lease_1', count: 2, rejected: 1, rejectedSum: '100' },
        { leaseId: 'lease_9', count: 1, rejected: 0, rejectedSum: '0' },
      ],
    });
    expect(book.settledSeq).toBe(2);
    expect(book.leases.get('lease_1')).toMatchObject({ count: 2, sum: 2n * PRICE, settled: 1 });
    enter(book, { type: 'settled', seq: 1, leases: [] });
    expect(book.settledSeq).toBe(2);
    enter(book, { type: 'closed', leaseId: 'lease_1' });
    expect(book.leases.size).toBe(0);
  });

  test('keeps charges that are parked until they are settled, as charges of their lease', () => {
    const book = bookOf(requested(1), granted(1), charged(1), charged(2));
    enter(book, { type: 'settled', seq: 2, leases: [], parked: [[2, 'line 2']] });
    expect(book).toMatchObject({ settledSeq: 2, parked: new Map([[2, 'line 2']]) });
    expect(book.leases.get('lease_1')).toMatchObject({ count: 2, settled: 0 });
    expect(bookFromJson(JSON.parse(JSON.stringify(bookToJson(book))))).toEqual(book);
    const leases = [{ leaseId: 'lease_1', count: 1, rejected: 0, rejectedSum: '0' }];
    enter(book, { type: 'settled', seq: 2, leases, unparked: [2] });
    expect(book).toMatchObject({ settledSeq: 2, parked: new Map() });
    expect(book.leases.get('lease_1')).toMatchObject({ count: 2, settled: 1 });
  });

  test('refuses what cannot follow: a grant nobody asked for, a charge out of turn', () => {
    expect(() => bookOf(granted(1))).toThrow('lease_1 was granted to a request that nobody made');
    expect(() => bookOf(requested(1), granted(1), granted(1))).toThrow('nobody made');
    expect(() => bookOf(charged(1))).toThrow('charge 1 names a lease that is not open');
    expect(() => bookOf(requested(1), granted(1), charged(2))).toThrow('charge 2 stands where 1 should');
    expect(() => bookOf({ type: 'melted' } as never)).toThrow('unknown type');
  });

  test('comes back from JSON as it was', () => {
    const book = bookOf(requested(1), granted(1), charged(1), requested(2));
    const { requests, leases } = bookToJson(book) as { requests: unknown; leases: unknown };
    expect(JSON.parse(JSON.stringify({ requests, leases }))).toEqual({
      requests: [[2, { walletId: 'wallet_a', keyId: null, want: '1000', need: '100' }]],
      leases: [
        ['lease_1', { walletId: 'wallet_a', keyId: null, amount: '1000', count: 1, sum: '100', settled: 0 }],
      ],
    });
    expect(bookFromJson(JSON.parse(JSON.stringify(bookToJson(book))))).toEqual(book);
  });
});
