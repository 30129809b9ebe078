/**
 * The inbound half of `POST /v1/responses/compact`: emulates the endpoint by a request for a summary.
 * https://platform.openai.com/docs/api-reference/responses/compact
 */
import type { ChatRequest, ChatResponse, Usage } from '../canonical.ts';
import type { Inbound } from '../dialect.ts';
import { fieldError, isObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { nowSeconds } from '../openai-answers.ts';
import { unreadableAnswer } from '../upstream-errors.ts';
import { askForSummary, compacted } from './compaction.ts';
import { decodeRequest } from './decode-request.ts';
import { ItemIds, writeOutput } from './encode-output.ts';
import { streamEncoder } from './encode-stream.ts';
import { encodeError, encodeStreamError } from './errors.ts';
import { MIRROR } from './members.ts';
import { responseId } from './response.ts';
import { readUsage, writeUsage } from './wire.ts';

/** The inbound half of the endpoint. Its answers are never streamed. */
export const compactInbound: Inbound = {
  decodeRequest: decodeCompact,
  encodeResponse: encodeCompaction,
  streamEncoder,
  idPrefix: 'resp_',
  encodeError,
  encodeStreamError,
  keepAlive: ': keep-alive\n\n',
  losses: {},
  mirror: MIRROR,
};

function decodeCompact(wire: JsonObject): ChatRequest {
  const request = { ...decodeRequest(wire), stream: false };
  if (!request.messages.some(({ at }) => at !== '/instructions'))
    throw fieldError('/input', 'a conversation');
  return request.shape.compaction ? request : askForSummary(request, '/input');
}

function encodeCompaction(response: ChatResponse, request: ChatRequest): JsonObject {
  const id = responseId(response.id);
  const [choice] = compacted(response).choices;
  return {
    id,
    object: 'response.compaction',
    created_at: nowSeconds(),
    output: writeOutput(choice?.blocks ?? [], { ids: new ItemIds(id), tools: request.tools }),
    usage: writeUsage(response),
  };
}

/**
 * Decodes the usage of an upstream's own compaction. Throws `upstream_failed` if the answer is no compaction.
 */
export function readCompactionUsage(wire: unknown): Usage {
  if (!isObject(wire) || !Array.isArray(wire.output)) throw unreadableAnswer('no compaction');
  return readUsage(wire);
}
