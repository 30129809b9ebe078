/**
 * `POST /v1/responses/compact` as an inbound half: a summarising chat request whose answer is a compaction.
 * https://platform.openai.com/docs/api-reference/responses/compact
 */
import type { ChatRequest, ChatResponse, Usage } from '../canonical.ts';
import type { Inbound, RequestPath } from '../dialect.ts';
import { isObject, wrong } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { encodeOpenAiError } from '../openai-errors.ts';
import { unreadableAnswer } from '../upstream-errors.ts';
import { encodeStreamError } from './errors.ts';
import { encodeBlocks, ItemNames } from './output.ts';
import { decodeRequest } from './request.ts';
import { decodeUsage, encodeUsage, responseId } from './response.ts';
import { ResponsesStreamEncoder } from './stream-encoder.ts';
import { askForSummary, compacted } from './summary.ts';

/** What a client of this path sends and reads; it is never streamed. */
export const compact: Inbound = {
  decodeRequest: decodeCompact,
  encodeResponse: encodeCompaction,
  streamEncoder: (request) => new ResponsesStreamEncoder(request),
  encodeError: encodeOpenAiError,
  encodeStreamError,
  keepAlive: ': keep-alive\n\n',
  losses: {},
};

function decodeCompact(wire: JsonObject, path: RequestPath): ChatRequest {
  const request = { ...decodeRequest(wire, path), stream: false };
  if (!request.messages.some(({ at }) => at !== '/instructions')) throw wrong('/input', 'a conversation');
  return request.shape.compaction ? request : askForSummary(request, '/input');
}

function encodeCompaction(response: ChatResponse, request: ChatRequest): JsonObject {
  const id = responseId(response.id);
  const [choice] = compacted(response).choices;
  return {
    id,
    object: 'response.compaction',
    created_at: Math.floor(Date.now() / 1000),
    output: encodeBlocks(choice?.blocks ?? [], { items: new ItemNames(id), tools: request.tools }),
    usage: encodeUsage(response),
  };
}

/** The counters of an upstream's own compaction. Throws `upstream_failed` where it is none. */
export function readCompaction(wire: unknown): Usage {
  if (!isObject(wire) || !Array.isArray(wire.output)) throw unreadableAnswer('no compaction');
  return decodeUsage(wire);
}
