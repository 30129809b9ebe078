/** Reads whole chat answers of upstreams. */
import type { ChatResponse } from '../dialects/canonical.ts';
import { parseJson } from '../dialects/exact-json.ts';
import type { Candidate } from '../upstreams/attempt.ts';
import { asUnreadable } from './unreadable.ts';

/**
 * The answer in a whole body. Throws `upstream_…` if it cannot be read. Only an answer that is written in
 * another format is read exactly: of a mirrored one the values do not reach the client.
 */
export function decodeWhole({ dialect }: Candidate, bytes: Buffer, isMirrored: boolean): ChatResponse {
  try {
    const text = bytes.toString('utf8');
    return dialect.outbound.decodeResponse(isMirrored ? JSON.parse(text) : parseJson(text));
  } catch (cause) {
    throw asUnreadable(cause);
  }
}
