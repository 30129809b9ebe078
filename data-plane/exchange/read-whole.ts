/** Reads whole chat answers of upstreams. */
import { isAscii } from 'node:buffer';
import type { ChatResponse } from '../dialects/canonical.ts';
import { parseJson } from '../dialects/exact-json.ts';
import type { Candidate } from '../upstreams/attempt.ts';
import { asUnreadable } from './unreadable.ts';

/**
 * The answer in a whole body, with every digit of its numbers (exact-json.ts). Throws `upstream_…` if it
 * cannot be read.
 */
export function decodeWhole({ dialect }: Candidate, bytes: Buffer): ChatResponse {
  return read(() => dialect.outbound.decodeResponse(parseJson(bytes.toString('utf8'))));
}

/**
 * Like `decodeWhole`, for an answer that is mirrored: its values do not reach the client, so they need not be
 * exact. `scannable` is the body with one character per byte.
 */
export function decodeMirrored({ dialect }: Candidate, bytes: Buffer, scannable: string): ChatResponse {
  const text = isAscii(bytes) ? scannable : bytes.toString('utf8');
  return read(() => dialect.outbound.decodeResponse(JSON.parse(text)));
}

function read(decode: () => ChatResponse): ChatResponse {
  try {
    return decode();
  } catch (cause) {
    throw asUnreadable(cause);
  }
}
