/** Values of chat completions and their conversions. https://platform.openai.com/docs/api-reference/chat */
import type { Block, Citation, Effort, FinishReason, TokenLogprob, Usage } from '../canonical.ts';
import { isObject, numberOf, objectOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { readTokenLogprobs } from '../openai-answers.ts';

export const NAME = 'openai-chat';

/** Values of `reasoning_effort`, weakest first. */
export const EFFORT_VALUES: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];
/** The longest `user` that OpenAI accepts, in characters. */
export const USER_MAX = 64;

/** The message of an encoded choice. */
export interface WireMessage {
  role: 'assistant';
  content: string | null;
  refusal: string | null;
  reasoning_content?: string;
  reasoning_details?: JsonObject[];
  tool_calls?: WireToolCall[];
  function_call?: { name: string; arguments: string };
  annotations?: JsonObject[];
  images?: JsonObject[];
  audio?: JsonObject;
}

/** An encoded tool call. */
export interface WireToolCall {
  id: string;
  type: 'function' | 'custom';
  function?: { name: string; arguments: string };
  custom?: { name: string; input: string };
}

const WIRE_FINISHES: Record<FinishReason, string> = {
  stop: 'stop',
  length: 'length',
  tool: 'tool_calls',
  filter: 'content_filter',
  refusal: 'stop',
  pause: 'stop',
  error: 'stop',
  other: 'stop',
};

/** `model_length`, `eos` and `end_turn` come from Mistral, Together and others. */
const FINISH_REASONS: Record<string, FinishReason> = {
  stop: 'stop',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool',
  function_call: 'tool',
  content_filter: 'filter',
  error: 'error',
  eos: 'stop',
  end_turn: 'stop',
};

/**
 * Encodes the finish of a choice as `finish_reason`. A refusal without refusal text becomes
 * `content_filter`, because it would look like an ordinary end.
 */
export function writeFinish(finish: FinishReason, hasRefusalText: boolean): string {
  return finish === 'refusal' && !hasRefusalText ? 'content_filter' : WIRE_FINISHES[finish];
}

/**
 * Decodes `finish_reason`. `stop` becomes `tool` if there are tool calls: OpenAI sends it for forced calls.
 */
export function readFinish(
  finishReason: string,
  kinds: Pick<ReadonlySet<Block['kind']>, 'has'>,
): FinishReason {
  const reason = FINISH_REASONS[finishReason] ?? 'other';
  if (reason === 'stop' && kinds.has('tool-call')) return 'tool';
  return reason === 'stop' && kinds.has('refusal') ? 'refusal' : reason;
}

/** Decodes `usage`. xAI's completion tokens exclude reasoning, which shows in the total. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const input = numberOf(value.prompt_tokens);
  const prompt = objectOf(value.prompt_tokens_details);
  const completion = objectOf(value.completion_tokens_details);
  const reasoning = numberOf(completion.reasoning_tokens) ?? numberOf(value.reasoning_tokens);
  const completed = numberOf(value.completion_tokens);
  const isReasoningOutside =
    reasoning !== undefined && value.total_tokens === (input ?? 0) + (completed ?? 0) + reasoning;
  const counters = {
    ...counter('cacheWrite', prompt.cache_write_tokens),
    ...counter('inputAudio', prompt.audio_tokens),
    ...counter('outputAudio', completion.audio_tokens),
  };
  return {
    tokens: {
      input: input ?? null,
      output: isReasoningOutside ? (completed ?? 0) + reasoning : (completed ?? null),
      cached: numberOf(prompt.cached_tokens) ?? numberOf(value.prompt_cache_hit_tokens) ?? null,
      reasoning: reasoning ?? null,
    },
    ...(Object.keys(counters).length > 0 ? { counters } : {}),
  };
}

function counter(name: 'cacheWrite' | 'inputAudio' | 'outputAudio', value: unknown): { [name]?: number } {
  const count = numberOf(value);
  return count ? { [name]: count } : {};
}

/** Decodes an annotation; undefined if it cites no URL. */
export function readCitation(annotation: JsonObject): Citation | undefined {
  const cited = annotation.url_citation;
  if (!isObject(cited)) return undefined;
  const start = numberOf(cited.start_index);
  const end = numberOf(cited.end_index);
  return {
    url: textOf(cited.url),
    title: textOf(cited.title),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
  };
}

/** Encodes a citation as an annotation. */
export function writeCitation({ url, title, start, end }: Citation): JsonObject {
  return {
    type: 'url_citation',
    url_citation: { url: url ?? '', title: title ?? '', start_index: start ?? 0, end_index: end ?? 0 },
  };
}

/** Decodes `logprobs` of a choice, from its `content` or `refusal`; undefined if there are none. */
export function readLogprobs(value: unknown): TokenLogprob[] | undefined {
  const { content, refusal } = objectOf(value);
  return readTokenLogprobs(content ?? refusal);
}

/** Encodes `logprobs` of a choice; null if there are none. */
export function writeLogprobs(logprobs: TokenLogprob[] | undefined): JsonObject | null {
  if (!logprobs) return null;
  return {
    content: logprobs.map(({ token, logprob, bytes, top }) => ({
      token,
      logprob,
      bytes: bytes ?? null,
      top_logprobs: top.map((one) => ({ ...one, bytes: one.bytes ?? null })),
    })),
    refusal: null,
  };
}

/** Whether a choice has no value but its role: some providers send such chunks while a model reasons. */
export function isEmptyChoice({ delta, index: _index, ...rest }: JsonObject): boolean {
  if (!isObject(delta)) return false;
  const { role: _role, ...values } = delta;
  return [...Object.values(rest), ...Object.values(values)].every(
    (value) => value === null || value === '' || (Array.isArray(value) && value.length === 0),
  );
}
