/** Whole answers in the responses format, and the `response` object that streams repeat. */
import type { Block, ChatRequest, ChatResponse, Choice, FinishReason, Usage } from '../canonical.ts';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { failureInsideAnswer, unreadableAnswer } from '../upstream-errors.ts';
import { decodeItem, encodeBlocks, ItemNames } from './output.ts';
import { settings } from './request.ts';
import { compacted } from './summary.ts';
import { encodeToolChoice, encodeTools } from './tools.ts';
import type { OutputItem, ResponseProgress, WireUsage } from './wire.ts';

/**
 * Reads an upstream's whole answer. Throws the upstream's own failure where its status says that it failed,
 * and `upstream_failed` for anything that is no answer.
 */
export function decodeResponse(wire: unknown): ChatResponse {
  if (!isObject(wire)) throw unreadableAnswer('the body is no object');
  failOnFailure(wire);
  if (!Array.isArray(wire.output)) throw unreadableAnswer('the body has no output');
  const blocks = objectsOf(wire.output).flatMap(decodeItem);
  return {
    id: textOf(wire.id),
    model: textOf(wire.model),
    ...decodeUsage(wire),
    choices: [{ blocks, finish: finishOf(wire, blocks) }],
  };
}

/** Throws where a `response` object speaks of a failure. */
export function failOnFailure(response: JsonObject): void {
  const error = objectOf(response.error);
  if (response.status === 'failed' || response.status === 'cancelled' || isObject(response.error)) {
    throw failureInsideAnswer(`${textOf(response.status)} ${textOf(error.code)} ${textOf(error.type)}`);
  }
}

/** Why an answer ended: an answer with calls ended for them, one with a refusal for that. */
export function finishOf(response: JsonObject, blocks: readonly Pick<Block, 'kind'>[]): FinishReason {
  if (response.status === 'incomplete') {
    const reason = textOf(objectOf(response.incomplete_details).reason);
    if (reason === 'content_filter') return 'filter';
    return reason.includes('tokens') || reason.includes('length') ? 'length' : 'other';
  }
  if (response.status === 'queued' || response.status === 'in_progress') return 'other';
  if (blocks.some((block) => block.kind === 'tool-call')) return 'tool';
  return blocks.some((block) => block.kind === 'refusal') ? 'refusal' : 'stop';
}

/** The counters of a `response` object. */
export function decodeUsage(response: JsonObject): Usage {
  const usage = objectOf(response.usage);
  const input = objectOf(usage.input_tokens_details);
  const cacheWrite = numberOf(input.cache_write_tokens);
  const tier = textOf(response.service_tier);
  return {
    tokens: {
      input: numberOf(usage.input_tokens) ?? null,
      output: numberOf(usage.output_tokens) ?? null,
      cached: numberOf(input.cached_tokens) ?? null,
      reasoning: numberOf(objectOf(usage.output_tokens_details).reasoning_tokens) ?? null,
    },
    ...(cacheWrite === undefined ? {} : { counters: { cacheWrite } }),
    ...(tier ? { serviceTier: tier } : {}),
  };
}

/**
 * A whole answer for the client; this format has room for the first choice only. Throws `upstream_failed`
 * where a summary was asked for and is missing.
 */
export function encodeResponse(answer: ChatResponse, request: ChatRequest): unknown {
  const response = request.shape.compaction ? compacted(answer) : answer;
  const id = responseId(response.id);
  const items = new ItemNames(id);
  const choice: Choice = response.choices[0] ?? { blocks: [], finish: 'other' };
  const output = encodeBlocks(choice.blocks, { items, tools: request.tools });
  const head = responseHead({ id, model: response.model }, request);
  return { ...head, ...progressOf(choice.finish, { output, usage: response }) };
}

/** The answer's id as this format writes ids. */
export function responseId(id: string): string {
  return id.startsWith('resp_') ? id : `resp_${id.replace(/[^A-Za-z0-9_-]/g, '')}`;
}

/** What of a `response` object stays the same from its creation to its end: mostly an echo of the request. */
export function responseHead({ id, model }: { id: string; model: string }, request: ChatRequest): JsonObject {
  const system = request.messages[0]?.at === '/instructions' ? request.messages[0].parts[0] : undefined;
  return {
    id,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    model: model || request.model,
    background: false,
    instructions: system?.kind === 'text' ? system.text : null,
    max_output_tokens: null,
    metadata: {},
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: encodeToolChoice(request) ?? 'auto',
    tools: encodeTools(request.tools),
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    user: null,
    ...settings(request),
  };
}

/** What of a `response` object changes: its state at the end. */
export function progressOf(
  finish: FinishReason,
  { output, usage }: { output: OutputItem[]; usage: Usage },
): ResponseProgress & JsonObject {
  const reason = incompleteReason(finish, output);
  const status = finish === 'error' ? 'failed' : reason ? 'incomplete' : 'completed';
  return {
    status,
    output,
    incomplete_details: reason ? { reason } : null,
    error:
      finish === 'error'
        ? { code: 'server_error', message: 'The model broke off its own answer. Try again.' }
        : null,
    usage: encodeUsage(usage),
    ...(usage.serviceTier === undefined ? {} : { service_tier: usage.serviceTier }),
  };
}

/**
 * A refusal without words of its own is told as a filtered answer: this format knows refusals as text only.
 */
function incompleteReason(finish: FinishReason, output: OutputItem[]): string | undefined {
  if (finish === 'length') return 'max_output_tokens';
  if (finish === 'filter') return 'content_filter';
  const refuses = (item: OutputItem): boolean =>
    'content' in item && objectsOf(item.content).some((part) => part.type === 'refusal');
  return finish === 'refusal' && !output.some(refuses) ? 'content_filter' : undefined;
}

/** The counters; unknown ones are 0, since clients read these as numbers. */
export function encodeUsage({ tokens, counters }: Usage): WireUsage {
  const input = tokens.input ?? 0;
  const output = tokens.output ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: tokens.cached ?? 0,
      cache_write_tokens: counters?.cacheWrite ?? 0,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: tokens.reasoning ?? 0 },
    total_tokens: input + output,
  };
}
