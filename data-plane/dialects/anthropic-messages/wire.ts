/** The words of the messages format. https://platform.claude.com/docs/en/api/messages */
import type { Block, ChatRequest, Choice, Citation, FinishReason, Media, Usage } from '../canonical.ts';
import { isObject, numberOf, parseObject, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { base64Of } from '../media.ts';

export const NAME = 'anthropic-messages';

const STOP_WORDS: Record<FinishReason, string> = {
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

/** The `stop_reason` of a choice. */
export function stopWord({ finish, stopSequence }: Pick<Choice, 'finish' | 'stopSequence'>): string {
  return finish === 'stop' && stopSequence !== undefined ? 'stop_sequence' : STOP_WORDS[finish];
}

/** The finish of an upstream's answer; a stop with calls present is a tool finish. */
export function finishReason(word: string, kinds: ReadonlySet<Block['kind']>): FinishReason {
  const reason = word === '' ? 'stop' : (FINISH_REASONS[word] ?? 'other');
  return reason === 'stop' && kinds.has('tool-call') ? 'tool' : reason;
}

/** Reads `usage`, whose input count leaves out what was read from or written to the cache. */
export function readUsage(value: JsonObject): Usage {
  const input = numberOf(value.input_tokens);
  const read = numberOf(value.cache_read_input_tokens);
  const written = numberOf(value.cache_creation_input_tokens);
  const details = isObject(value.output_tokens_details) ? value.output_tokens_details : {};
  const serviceTier = textOf(value.service_tier);
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

/** `usage` as this format counts. */
export function writeUsage({ tokens, counters, serviceTier }: Usage): JsonObject {
  const read = tokens.cached ?? 0;
  const written = counters?.cacheWrite ?? 0;
  return {
    input_tokens: Math.max(0, (tokens.input ?? 0) - read - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: tokens.output ?? 0,
    ...(tokens.reasoning === null ? {} : { output_tokens_details: { thinking_tokens: tokens.reasoning } }),
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
  };
}

/** Reads a citation of the web or of a document. */
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

/** Other formats cite the web; a place in a document comes back as one. */
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

/** A call's arguments as the object that this format wants; what is no object goes under `input`. */
export function inputOf({ text, custom }: { text: string; custom?: boolean }): JsonObject {
  const parsed = custom ? undefined : parseObject(text);
  return parsed ?? { input: text };
}

/** `tool_use.id` takes these characters alone; a call and its result are changed alike. */
export function safeId(id: string): string {
  return id.replaceAll(/[^a-zA-Z0-9_-]/g, '_') || 'call';
}

/** `source` of an image or document; undefined for addresses that only another provider can read. */
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

/** How a Claude model takes the wish to think. Others that speak this format know budgets. */
export function thinksAdaptively(model: string): boolean {
  return (
    /claude/i.test(model) &&
    !/claude-(3|instant|2|(opus|sonnet|haiku)-4(-(0|1|5))?(-2\d{7})?($|[@:]|-latest|-v))/i.test(model)
  );
}

/**
 * What `max_tokens` is where the client set no limit: this format demands one, and models refuse more than
 * they can.
 */
export function defaultMaxTokens(model: string): number {
  if (/claude-3-[57]/.test(model)) return 8192;
  return /claude-(3|2|instant)/.test(model) ? 4096 : 32_000;
}

/** The tool choice and whether calls may be parallel, as one value here. */
export function writeToolChoice(request: ChatRequest): JsonObject | undefined {
  const { toolChoice, parallelToolCalls } = request;
  const alone = parallelToolCalls === undefined ? {} : { disable_parallel_tool_use: !parallelToolCalls };
  if (toolChoice === undefined)
    return parallelToolCalls === undefined ? undefined : { type: 'auto', ...alone };
  if (toolChoice === 'none') return { type: 'none' };
  if (toolChoice === 'auto') return { type: 'auto', ...alone };
  if (toolChoice === 'required') return { type: 'any', ...alone };
  if ('name' in toolChoice) return { type: 'tool', name: toolChoice.name, ...alone };
  return { type: toolChoice.mode === 'required' ? 'any' : 'auto', ...alone };
}
