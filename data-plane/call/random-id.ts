/** Generates ids of requests and answers: 128 random bits in hex. */
import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
/** Ids per call of the random generator, because that call is the expensive part. */
const IDS_PER_FILL = 256;

const randomness = Buffer.alloc(ID_BYTES * IDS_PER_FILL);
let used = randomness.length;

/** A new id, unique and unguessable. */
export function randomId(): string {
  if (used >= randomness.length) {
    randomFillSync(randomness);
    used = 0;
  }
  const id = randomness.toString('hex', used, used + ID_BYTES);
  used += ID_BYTES;
  return id;
}
