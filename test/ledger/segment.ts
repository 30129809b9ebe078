/** Bytes of a journal segment for tests that damage them. */
import { toCheckpoint, emptyJournalState } from '../../data-plane/ledger/journal-state.ts';
import { encodeFrame } from '../../data-plane/ledger/frames.ts';
import { lineOf } from '../../data-plane/ledger/lines.ts';
import { chargeOf } from './records.ts';

/**
 * A segment with `groups` frames, and the offset of each. `fill` lengthens each charge by that many bytes.
 */
export function segmentOf(groups: number, fill: number): { bytes: Buffer; starts: number[] } {
  const state = emptyJournalState('journal_1');
  state.leases.set('lease_1', {
    walletId: 'wallet_a',
    keyId: null,
    amount: 10n ** 9n,
    count: 0,
    sum: 0n,
    settled: 0,
  });
  const frames = [encodeFrame(0, [JSON.stringify(toCheckpoint(state))])];
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
