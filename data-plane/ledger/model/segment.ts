/** The bytes of a journal segment, for tests that damage them. */
import { bookToJson, emptyBook } from '../book.ts';
import { encodeFrame } from '../frames.ts';
import { lineOf } from '../lines.ts';
import { chargeOf } from './records.ts';

/** The bytes of a segment with that many groups, and where each begins. */
export function segmentOf(groups: number, fill: number): { bytes: Buffer; starts: number[] } {
  const book = emptyBook('journal_1');
  book.leases.set('lease_1', {
    walletId: 'wallet_a',
    keyId: null,
    amount: 10n ** 9n,
    count: 0,
    sum: 0n,
    settled: 0,
  });
  const frames = [encodeFrame(0, [JSON.stringify(bookToJson(book))])];
  for (let group = 1; group < groups; group += 1) {
    const requestId = `request_${group}${'m'.repeat(fill)}`;
    frames.push(encodeFrame(group, [lineOf(chargeOf(requestId, 1n, { leaseId: 'lease_1', seq: group }))]));
  }
  const starts: number[] = [];
  let offset = 0;
  for (const frame of frames) {
    starts.push(offset);
    offset += frame.length;
  }
  return { bytes: Buffer.concat(frames), starts };
}
