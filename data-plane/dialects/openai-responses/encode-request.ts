/** Encodes requests for upstreams of the responses format. */
import { EFFORTS } from '../canonical.ts';
import type { AnswerFormat, ChatRequest, Extra, Reasoning, ScalarName } from '../canonical.ts';
import type { UpstreamRequest } from '../dialect.ts';
import { Drops } from '../drops.ts';
import { effortOf } from '../effort.ts';
import { withoutUndefined } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { OPENAI_TIERS, writeTier } from '../vocabularies.ts';
import { writeMessages } from './encode-messages.ts';
import { writeToolChoice, writeTools } from './encode-tools.ts';
import { ENCRYPTED_REASONING, LOGPROBS, NAME } from './wire.ts';

/** Path of the endpoint, relative to the upstream's base URL. */
export const PATH = '/responses';

/**
 * Encodes the request for the upstream's model `model`. Nothing is stored at the provider, so the request
 * asks for encrypted reasoning inline.
 */
export function encodeRequest(request: ChatRequest, model: string): UpstreamRequest {
  const drops = new Drops();
  drops.cacheMarks(request);
  drops.authorNames(request);
  const { instructions, input } = writeMessages(request, drops);
  const tools = writeTools(request.tools, drops);
  drops.allScalarsBut(request, carriedScalars(request, tools.length > 0));
  const extras = request.extras.filter((extra) => !isIncluded(extra));
  const body: JsonObject = {
    ...drops.extras({ ...request, extras }, NAME),
    model,
    ...(instructions ? { instructions } : {}),
    input,
    ...(tools.length > 0 ? withoutUndefined({ tools, tool_choice: writeToolChoice(request) }) : {}),
    ...writeSettings(request),
    store: false,
    ...(request.stream ? { stream: true } : {}),
    include: writeInclude(request),
  };
  return { path: PATH, body, headers: {}, dropped: drops.list };
}

/** Scalars that this format has a field for. */
const CARRIED: readonly ScalarName[] = [
  'toolChoice',
  'parallelToolCalls',
  'maxOutputTokens',
  'temperature',
  'topP',
  'logprobs',
  'reasoning',
  'format',
  'verbosity',
  'user',
  'metadata',
  'serviceTier',
  'cacheKey',
  'cacheRetention',
];

/** The scalars that this request carries. The provider refuses a tool choice without tools. */
function carriedScalars(request: ChatRequest, hasTools: boolean): ScalarName[] {
  const names = CARRIED.filter((name) => hasTools || name !== 'toolChoice');
  if (request.choices <= 1) names.push('choices');
  if (request.modalities?.every((kind) => kind === 'text')) names.push('modalities');
  if (request.serviceTier && OPENAI_TIERS[request.serviceTier] === undefined)
    return names.filter((name) => name !== 'serviceTier');
  return names;
}

/** Encodes all fields besides conversation and tools. Answers repeat these fields. */
export function writeSettings(request: ChatRequest): JsonObject {
  const text = withoutUndefined({ format: writeFormat(request.format), verbosity: request.verbosity });
  return withoutUndefined({
    parallel_tool_calls: request.parallelToolCalls,
    max_output_tokens: request.maxOutputTokens,
    temperature: request.temperature,
    top_p: request.topP,
    top_logprobs: request.logprobs?.top,
    reasoning: writeReasoning(request.reasoning),
    text: Object.keys(text).length > 0 ? text : undefined,
    user: request.user,
    metadata: request.metadata,
    ...writeTier(request),
    prompt_cache_key: request.cacheKey,
    prompt_cache_retention: request.cacheRetention,
  });
}

function writeInclude(request: ChatRequest): string[] {
  const others = request.extras
    .filter(isIncluded)
    .flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
  return [ENCRYPTED_REASONING, ...(request.logprobs ? [LOGPROBS] : []), ...others];
}

/** Whether the decoder of this format read the extra from `include`. */
function isIncluded({ dialect, pointer }: Extra): boolean {
  return dialect === NAME && pointer.startsWith('/include/');
}

function writeReasoning(reasoning: Reasoning | undefined): JsonObject | undefined {
  if (!reasoning) return undefined;
  const effort = effortOf(reasoning, EFFORTS);
  const isHidden = reasoning.visible === false || effort === 'none';
  const summary = typeof reasoning.visible === 'string' ? reasoning.visible : 'auto';
  return withoutUndefined({ effort, summary: isHidden ? undefined : summary });
}

function writeFormat(format: AnswerFormat | undefined): JsonObject | undefined {
  if (!format || format.kind === 'text') return undefined;
  if (format.kind === 'json') return { type: 'json_object' };
  const { name = 'answer', description, schema, strict = false } = format;
  return withoutUndefined({ type: 'json_schema', name, description, schema, strict });
}
