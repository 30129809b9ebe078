/** Entries of the configuration as compressed text, in parts of snapshots and in the file of a node. */
import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { constants, gunzipSync, gzip } from 'node:zlib';
import type { ConfigEntry } from '@gateway/shared/node-api';

/** Maximum size of the JSON of one part, in bytes: 2,000 entries of 32 kB. */
const PART_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes that are unpacked at once. Most parts are shorter, and are therefore not joined from pieces. */
const PIECE_BYTES = 1024 * 1024;

const compress = promisify(gzip);

/** The JSON of the entries, compressed with gzip on another thread, in base64. */
export async function pack(entries: readonly ConfigEntry[]): Promise<string> {
  const bytes = await compress(JSON.stringify(entries), { level: constants.Z_BEST_SPEED });
  return bytes.toString('base64');
}

/** The entries of a compressed part. Throws if they are no JSON of entries. */
export function unpack(packed: string): ConfigEntry[] {
  const source = Buffer.from(packed, 'base64');
  const bytes = gunzipSync(source, { maxOutputLength: PART_BYTES_MAX, chunkSize: PIECE_BYTES });
  const text = bytes.toString('utf8');
  freeBytes(source);
  freeBytes(bytes);
  const entries: unknown = JSON.parse(text);
  if (!Array.isArray(entries)) throw new Error('a part of the snapshot is not a list of entries');
  return entries;
}

/**
 * Frees the memory of bytes that nobody uses any more. What refers to them, such as the stream that unpacked
 * them, survives short collections of garbage: a full one would free the bytes of 30 parts or more at once.
 */
export function freeBytes({ buffer }: Buffer): void {
  // Short buffers share the memory of a pool, which is a little larger than `poolSize`.
  if (buffer instanceof ArrayBuffer && buffer.byteLength >= 2 * Buffer.poolSize) buffer.transfer(0);
}
