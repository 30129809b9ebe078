/**
 * Writes arrays of texts in PostgreSQL's binary format, which the server reads much faster than the text
 * format: it checks texts there one character at a time.
 * https://github.com/postgres/postgres/blob/REL_18_STABLE/src/backend/utils/adt/arrayfuncs.c (array_recv)
 */

const TEXT_OID = 25;
/** Maximum bytes of the header of an array. */
export const HEADER_BYTES = 20;
/** Bytes of the length of an item, which precedes it. */
export const LENGTH_BYTES = 4;
/** Maximum bytes of a UTF-16 code unit in UTF-8. */
const UNIT_BYTES_MAX = 3;
/** The length of null. */
export const NULL_LENGTH = -1;

/** The value of a parameter of type text[]. The driver sends a buffer in binary format. */
export function textArray(items: readonly (string | null)[]): Buffer {
  let units = 0;
  for (const item of items) units += item?.length ?? 0;
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + items.length * LENGTH_BYTES + units * UNIT_BYTES_MAX);
  let end = writeHeader(buffer, items, TEXT_OID);
  for (const item of items) {
    const start = end + LENGTH_BYTES;
    const bytes = item === null ? NULL_LENGTH : buffer.write(item, start);
    buffer.writeInt32BE(bytes, end);
    end = start + Math.max(0, bytes);
  }
  return buffer.subarray(0, end);
}

/**
 * Writes dimensions, whether there are nulls, type of the items, their number, and the first index. Returns
 * the place after the header.
 */
export function writeHeader(buffer: Buffer, items: readonly unknown[], oid: number): number {
  const dimensions = items.length > 0 ? [items.length, 1] : [];
  let end = 0;
  for (const part of [dimensions.length / 2, items.includes(null) ? 1 : 0, oid, ...dimensions])
    end = buffer.writeInt32BE(part, end);
  return end;
}
