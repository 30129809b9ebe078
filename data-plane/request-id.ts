/** Request ids: 128 random bits, in hex. */
import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** Asking the system for randomness is the expensive part: one call serves this many ids. */
const IDS_PER_FILL = 256;

const randomness = Buffer.alloc(ID_BYTES * IDS_PER_FILL);
let used = randomness.length;

/** A new id, unique and not to be guessed. */
export function mintRequestId(): string {
  if (used >= randomness.length) {
    randomFillSync(randomness);
    used = 0;
  }
  const id = randomness.toString('hex', used, used + ID_BYTES);
  used += ID_BYTES;
  return id;
}
