/** Reads whole chat answers of upstreams. */
import type { ChatResponse } from '../dialects/canonical.ts';
import { parseJson } from '../dialects/exact-json.ts';
import type { Candidate } from '../upstreams/attempt.ts';
import { asUnreadable } from './unreadable.ts';

/** The answer in a whole body. Throws `upstream_…` if it cannot be read. */
export function decodeWhole({ dialect }: Candidate, bytes: Buffer): ChatResponse {
  try {
    return dialect.outbound.decodeResponse(parseJson(bytes.toString('utf8')));
  } catch (cause) {
    throw asUnreadable(cause);
  }
}
