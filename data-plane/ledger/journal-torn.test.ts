/** A process is killed in the middle of a write. The next start replays exactly the acknowledged charges. */
import { test } from 'vitest';
import { continueAfterEveryWrite, tearAtEveryByte } from '../../test/ledger/torn-writes.ts';

const BYTES = 64 * 1024;
const WRITES = 12;

test(
  'a folder torn at any byte of 64 KiB replays to exactly the acknowledged charges',
  () => tearAtEveryByte(BYTES),
  60_000,
);

test('a journal torn in any write continues with every charge exactly once', () =>
  continueAfterEveryWrite(WRITES));
