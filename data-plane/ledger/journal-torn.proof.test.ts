/** A process is killed in the middle of a write, at every byte of several megabytes. */
import { test } from 'vitest';
import { continueAfterEveryWrite, tearAtEveryByte } from '../../test/ledger/torn-writes.ts';

const BYTES = 2 * 1024 * 1024;
const WRITES = 150;
const LIMIT_MS = 600_000;

test(
  'a folder torn at any byte of 2 MiB replays to exactly the acknowledged charges',
  () => tearAtEveryByte(BYTES),
  LIMIT_MS,
);

test(
  'a journal torn in any write continues with every charge exactly once',
  () => continueAfterEveryWrite(WRITES),
  LIMIT_MS,
);
