/**
 * Generates ids of requests and answers: 48 bits of time in ms and 80 random bits, in hex. UUIDs of version 7
 * begin in the same way (RFC 9562, section 5.7). Ids of the same time are neighbours in the indexes of the
 * database, so a settlement changes few pages of an index.
 */
import { randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
const TIME_BYTES = 6;
/** Ids per call of the random generator, because that call is the expensive part. */
const IDS_PER_FILL = 256;

const bytes = Buffer.alloc(ID_BYTES * IDS_PER_FILL);
let used = bytes.length;

/** A new request id. It sorts after all earlier ids, also after those of 32 hex characters. */
export function newRequestId(now = Date.now()): string {
  return `req_${timedId(now)}`;
}

/** A new id of the time `now`, in ms of Unix time: unique and unguessable, 32 hex characters. */
export function timedId(now = Date.now()): string {
  if (used >= bytes.length) {
    randomFillSync(bytes);
    used = 0;
  }
  bytes.writeUIntBE(now, used, TIME_BYTES);
  const id = bytes.toString('hex', used, used + ID_BYTES);
  used += ID_BYTES;
  return id;
}
