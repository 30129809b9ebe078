/** Values of the messages format and their conversions. https://platform.claude.com/docs/en/api/messages */
import type { Block, ChatRequest, Choice, Citation, FinishReason, Media, Usage } from '../canonical.ts';
import { isObject, numberOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { base64Of } from '../media.ts';
import { sameWords, wordOf } from '../vocabularies.ts';
import type { ReadTable, ServiceTier, WriteTable } from '../vocabularies.ts';

export const NAME = 'anthropic-messages';

/** `usage.service_tier` of an answer. */
const READ_TIERS: ReadTable<ServiceTier> = sameWords(['standard', 'priority', 'batch']);
/** The tiers that an answer can name. */
const TIERS: WriteTable<ServiceTier> = {
  auto: undefined,
  standard: 'standard',
  flex: undefined,
  priority: 'priority',
  scale: undefined,
  batch: 'batch',
};
/** `service_tier` of a request. */
export const READ_REQUEST_TIERS: ReadTable<ServiceTier> = { auto: 'auto', standard_only: 'standard' };
/** The tiers that a request can ask for. */
export const REQUEST_TIERS: WriteTable<ServiceTier> = {
  auto: 'auto',
  standard: 'standard_only',
  flex: undefined,
  priority: undefined,
  scale: undefined,
  batch: undefined,
};

const STOP_REASONS: Record<FinishReason, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool: 'tool_use',
  filter: 'refusal',
  refusal: 'refusal',
  pause: 'pause_turn',
  error: 'end_turn',
  other: 'end_turn',
};

const FINISH_REASONS: Record<string, FinishReason> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool',
  pause_turn: 'pause',
  compaction: 'pause',
  refusal: 'refusal',
};

/** Encodes the finish of a choice as `stop_reason`. */
export function writeFinish({ finish, stopSequence }: Pick<Choice, 'finish' | 'stopSequence'>): string {
  return finish === 'stop' && stopSequence !== undefined ? 'stop_sequence' : STOP_REASONS[finish];
}

/** Decodes `stop_reason`. A plain stop of an answer with tool calls becomes `tool`. */
export function readFinish(stopReason: string, kinds: ReadonlySet<Block['kind']>): FinishReason {
  const reason = stopReason === '' ? 'stop' : (FINISH_REASONS[stopReason] ?? 'other');
  return reason === 'stop' && kinds.has('tool-call') ? 'tool' : reason;
}

/** Decodes `usage`, whose `input_tokens` exclude tokens read from and written to the cache. */
export function readUsage(value: JsonObject): Usage {
  const input = numberOf(value.input_tokens);
  const read = numberOf(value.cache_read_input_tokens);
  const written = numberOf(value.cache_creation_input_tokens);
  const details = isObject(value.output_tokens_details) ? value.output_tokens_details : {};
  const serviceTier = wordOf(READ_TIERS, value.service_tier);
  return {
    tokens: {
      input: input === undefined ? null : input + (read ?? 0) + (written ?? 0),
      output: numberOf(value.output_tokens) ?? null,
      cached: read ?? null,
      reasoning: numberOf(details.thinking_tokens) ?? null,
    },
    ...(written ? { counters: { cacheWrite: written } } : {}),
    ...(serviceTier ? { serviceTier } : {}),
  };
}

/** Encodes `usage`. */
export function writeUsage({ tokens, counters, serviceTier }: Usage): JsonObject {
  const input = tokens.input ?? 0;
  // Azure reports more cached tokens than input tokens. The input is a sum here, so it limits its parts.
  const read = Math.min(tokens.cached ?? 0, input);
  const written = counters?.cacheWrite ?? 0;
  const tier = serviceTier && TIERS[serviceTier];
  return {
    input_tokens: Math.max(0, input - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: tokens.output ?? 0,
    ...(tokens.reasoning === null ? {} : { output_tokens_details: { thinking_tokens: tokens.reasoning } }),
    ...(tier === undefined ? {} : { service_tier: tier }),
  };
}

/** Decodes a citation of a web page or a document. */
export function readCitation(wire: JsonObject): Citation {
  const title = textOf(wire.title) || textOf(wire.document_title);
  const start = numberOf(wire.start_char_index);
  const end = numberOf(wire.end_char_index);
  return {
    ...(typeof wire.url === 'string' ? { url: wire.url } : {}),
    ...(title ? { title } : {}),
    ...(typeof wire.cited_text === 'string' ? { text: wire.cited_text } : {}),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
  };
}

/** Encodes a citation: of a web page if it has a URL, else of a document. */
export function writeCitation({ url, title, text, start, end }: Citation): JsonObject {
  if (url !== undefined) {
    return {
      type: 'web_search_result_location',
      url,
      title: title ?? null,
      cited_text: text ?? '',
      encrypted_index: '',
    };
  }
  return {
    type: 'char_location',
    cited_text: text ?? '',
    document_index: 0,
    document_title: title ?? null,
    start_char_index: start ?? 0,
    end_char_index: end ?? 0,
  };
}

/** Replaces characters that `tool_use.id` does not allow, in the same way for a tool call and its result. */
export function safeId(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || 'call';
}

/** Encodes `source` of an image or document; undefined for URLs that this provider cannot read. */
export function writeSource(media: Media): JsonObject | undefined {
  const { source, mediaType } = media;
  if ('url' in source) return /^https?:/i.test(source.url) ? { type: 'url', url: source.url } : undefined;
  const isText = /^text\/|json|xml|csv|yaml|javascript/.test(mediaType) && media.type === 'file';
  if ('text' in source) return { type: 'text', media_type: 'text/plain', data: source.text };
  if (isText)
    return {
      type: 'text',
      media_type: 'text/plain',
      data: Buffer.from(source.base64, 'base64').toString('utf8'),
    };
  return { type: 'base64', media_type: mediaType || defaultMime(media), data: base64Of(media) };
}

function defaultMime({ type }: Media): string {
  return type === 'image' ? 'image/png' : 'application/pdf';
}

/**
 * Whether the model takes adaptive thinking. Older Claude models and models of other vendors take budgets.
 */
export function thinksAdaptively(model: string): boolean {
  return (
    /claude/i.test(model) &&
    !/claude-(3|instant|2|(opus|sonnet|haiku)-4(-(0|1|5))?(-2\d{7})?($|[@:]|-latest|-v))/i.test(model)
  );
}

/**
 * `max_tokens` for requests without a limit. This format requires one, and models refuse values above their
 * own maximum.
 */
export function defaultMaxTokens(model: string): number {
  if (/claude-3-[57]/.test(model)) return 8192;
  return /claude-(3|2|instant)/.test(model) ? 4096 : 32_000;
}

/** Encodes `tool_choice`, which in this format also says whether tool calls may be parallel. */
export function writeToolChoice(request: ChatRequest): JsonObject | undefined {
  const { toolChoice, parallelToolCalls } = request;
  const parallel = parallelToolCalls === undefined ? {} : { disable_parallel_tool_use: !parallelToolCalls };
  if (toolChoice === undefined)
    return parallelToolCalls === undefined ? undefined : { type: 'auto', ...parallel };
  if (toolChoice === 'none') return { type: 'none' };
  if (toolChoice === 'auto') return { type: 'auto', ...parallel };
  if (toolChoice === 'required') return { type: 'any', ...parallel };
  if ('name' in toolChoice) return { type: 'tool', name: toolChoice.name, ...parallel };
  return { type: toolChoice.mode === 'required' ? 'any' : 'auto', ...parallel };
}
