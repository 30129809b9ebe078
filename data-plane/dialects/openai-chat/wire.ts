/** The words of the chat completions format. https://platform.openai.com/docs/api-reference/chat */
import type { Block, Citation, Effort, FinishReason, TokenLogprob, Usage } from '../canonical.ts';
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';

export const NAME = 'openai-chat';

/** What this format can say in `reasoning_effort`, weakest first. */
export const EFFORT_WORDS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'];
export const SERVICE_TIERS: readonly string[] = ['auto', 'default', 'flex', 'scale', 'priority'];
/** The longest `user` that OpenAI accepts, in characters. */
export const USER_MAX = 64;

/** An answer's message, as we write it. */
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

export interface WireToolCall {
  id: string;
  type: 'function' | 'custom';
  function?: { name: string; arguments: string };
  custom?: { name: string; input: string };
}

const FINISH_WORDS: Record<FinishReason, string> = {
  stop: 'stop',
  length: 'length',
  tool: 'tool_calls',
  filter: 'content_filter',
  refusal: 'stop',
  pause: 'stop',
  error: 'error',
  other: 'stop',
};

/** `model_length`, `eos` and `end_turn` are words of Mistral, Together and others. */
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
 * The `finish_reason` of a choice. A refusal without refusal text would pass for an ordinary end: the filter
 * says it.
 */
export function finishWord(reason: FinishReason, hasRefusalText: boolean): string {
  return reason === 'refusal' && !hasRefusalText ? 'content_filter' : FINISH_WORDS[reason];
}

/** OpenAI says `stop` when one function was forced; with calls present that is a tool finish. */
export function finishReason(word: string, kinds: ReadonlySet<Block['kind']>): FinishReason {
  const reason = FINISH_REASONS[word] ?? 'other';
  if (reason === 'stop' && kinds.has('tool-call')) return 'tool';
  return reason === 'stop' && kinds.has('refusal') ? 'refusal' : reason;
}

/** Reads `usage`. xAI leaves reasoning out of the completion tokens, which the total gives away. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined;
  const input = numberOf(value.prompt_tokens);
  const prompt = objectOf(value.prompt_tokens_details);
  const completion = objectOf(value.completion_tokens_details);
  const reasoning = numberOf(completion.reasoning_tokens) ?? numberOf(value.reasoning_tokens);
  const said = numberOf(value.completion_tokens);
  const isReasoningOutside =
    reasoning !== undefined && value.total_tokens === (input ?? 0) + (said ?? 0) + reasoning;
  const counters = {
    ...counter('cacheWrite', prompt.cache_write_tokens),
    ...counter('inputAudio', prompt.audio_tokens),
    ...counter('outputAudio', completion.audio_tokens),
  };
  return {
    tokens: {
      input: input ?? null,
      output: isReasoningOutside ? (said ?? 0) + reasoning : (said ?? null),
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

/** Reads an annotation; undefined where it cites no address. */
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

/** A citation as an annotation. */
export function writeCitation({ url, title, start, end }: Citation): JsonObject {
  return {
    type: 'url_citation',
    url_citation: { url: url ?? '', title: title ?? '', start_index: start ?? 0, end_index: end ?? 0 },
  };
}

/** Reads `logprobs.content` or `logprobs.refusal`. */
export function readLogprobs(value: unknown): TokenLogprob[] | undefined {
  const { content, refusal } = objectOf(value);
  const entries = objectsOf(content ?? refusal);
  return entries.length === 0
    ? undefined
    : entries.map((entry) => ({ ...readToken(entry), top: objectsOf(entry.top_logprobs).map(readToken) }));
}

function readToken({ token, logprob, bytes }: JsonObject): {
  token: string;
  logprob: number;
  bytes?: number[] | null;
} {
  const list = Array.isArray(bytes)
    ? bytes.filter((byte): byte is number => typeof byte === 'number')
    : undefined;
  return { token: textOf(token), logprob: numberOf(logprob) ?? 0, ...(list ? { bytes: list } : {}) };
}

/** Writes `logprobs` of a choice; null where there are none. */
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
