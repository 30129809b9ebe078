/**
 * Encodes and decodes whole answers of the responses format, and the `response` object within its streams.
 */
import type { ChatRequest, ChatResponse, Choice, FinishReason, Usage } from '../canonical.ts';
import { isObject, objectOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { nowSeconds } from '../openai-answers.ts';
import { failureInsideAnswer, unreadableAnswer } from '../upstream-errors.ts';
import { writeTier } from '../vocabularies.ts';
import { compacted } from './compaction.ts';
import { readItem } from './decode-output.ts';
import { ItemIds, writeOutput } from './encode-output.ts';
import { writeSettings } from './encode-request.ts';
import { writeToolChoice, writeTools } from './encode-tools.ts';
import { readFinish, readUsage, writeUsage } from './wire.ts';
import type { OutputItem, ResponseProgress } from './wire.ts';

/**
 * Decodes an upstream's answer. Throws `upstream_failed` or `upstream_busy` if the answer failed or is none.
 */
export function decodeResponse(wire: unknown): ChatResponse {
  if (!isObject(wire)) throw unreadableAnswer('the body is no object');
  throwIfFailed(wire);
  if (!Array.isArray(wire.output)) throw unreadableAnswer('the body has no output');
  const blocks = objectsOf(wire.output).flatMap(readItem);
  return {
    id: textOf(wire.id),
    model: textOf(wire.model),
    ...readUsage(wire),
    choices: [{ blocks, finish: readFinish(wire, new Set(blocks.map(({ kind }) => kind))) }],
  };
}

function throwIfFailed(response: JsonObject): void {
  const error = objectOf(response.error);
  if (response.status === 'failed' || response.status === 'cancelled' || isObject(response.error)) {
    throw failureInsideAnswer(`${textOf(response.status)} ${textOf(error.code)} ${textOf(error.type)}`);
  }
}

/**
 * Encodes the first choice of an answer; this format has no others. Throws `upstream_failed` if a requested
 * summary is missing.
 */
export function encodeResponse(answer: ChatResponse, request: ChatRequest): unknown {
  const response = request.shape.compaction ? compacted(answer) : answer;
  const id = responseId(response.id);
  const choice: Choice = response.choices[0] ?? { blocks: [], finish: 'other' };
  const output = writeOutput(choice.blocks, { ids: new ItemIds(id), tools: request.tools });
  const head = responseHead({ id, model: response.model }, request);
  return { ...head, ...progressOf(choice.finish, { output, usage: response }) };
}

/** The id of an answer in this format, with the prefix `resp_`. */
export function responseId(id: string): string {
  return id.startsWith('resp_') ? id : `resp_${id.replace(/[^A-Za-z0-9_-]/g, '')}`;
}

/** Encodes the fields of a `response` object that never change. Most of them repeat the request. */
export function responseHead({ id, model }: { id: string; model: string }, request: ChatRequest): JsonObject {
  const system = request.messages[0]?.at === '/instructions' ? request.messages[0].parts[0] : undefined;
  return {
    id,
    object: 'response',
    created_at: nowSeconds(),
    model: model || request.model,
    background: false,
    completed_at: null,
    frequency_penalty: request.frequencyPenalty ?? 0,
    instructions: system?.kind === 'text' ? system.text : null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: true,
    presence_penalty: request.presencePenalty ?? 0,
    previous_response_id: null,
    prompt_cache_key: request.cacheKey ?? null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: writeToolChoice(request) ?? 'auto',
    tools: writeTools(request.tools),
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    user: null,
    ...writeSettings(request),
  };
}

/** Encodes the fields of a `response` object that change, in their final state. */
export function progressOf(
  finish: FinishReason,
  { output, usage }: { output: OutputItem[]; usage: Usage },
): ResponseProgress & JsonObject {
  const reason = incompleteReason(finish, output);
  const status = finish === 'error' ? 'failed' : reason ? 'incomplete' : 'completed';
  return {
    status,
    output,
    completed_at: status === 'completed' ? nowSeconds() : null,
    incomplete_details: reason ? { reason } : null,
    error:
      finish === 'error'
        ? { code: 'server_error', message: 'The upstream interrupted its own answer. Try again.' }
        : null,
    usage: writeUsage(usage),
    ...writeTier(usage),
  };
}

/** Why an answer is incomplete; undefined if complete. A refusal without text becomes `content_filter`. */
function incompleteReason(finish: FinishReason, output: OutputItem[]): string | undefined {
  if (finish === 'length') return 'max_output_tokens';
  if (finish === 'filter') return 'content_filter';
  const refuses = (item: OutputItem): boolean =>
    'content' in item && objectsOf(item.content).some((part) => part.type === 'refusal');
  return finish === 'refusal' && !output.some(refuses) ? 'content_filter' : undefined;
}
