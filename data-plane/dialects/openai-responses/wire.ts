/**
 * Types and values of the responses format and their conversions.
 * https://platform.openai.com/docs/api-reference/responses
 */
import type { Block, Citation, FinishReason, TokenLogprob, Usage } from '../canonical.ts';
import { numberOf, objectOf, textOf } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { OPENAI_READ_TIERS, wordOf } from '../vocabularies.ts';

export const NAME = 'openai-responses';

/** Values of `include`. */
export const ENCRYPTED_REASONING = 'reasoning.encrypted_content';
export const LOGPROBS = 'message.output_text.logprobs';

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** A text part of a message. */
export interface OutputText {
  type: 'output_text';
  text: string;
  annotations: Annotation[];
  logprobs: WireLogprob[];
}
interface RefusalPart {
  type: 'refusal';
  refusal: string;
}

/** A message of the assistant. */
export interface MessageItem {
  type: 'message';
  id: string;
  status: ItemStatus;
  role: 'assistant';
  content: (OutputText | RefusalPart)[];
}

/** `encrypted_content` must come back with the next request; `summary` is readable text. */
interface ReasoningItem {
  type: 'reasoning';
  id: string;
  summary: SummaryPart[];
  encrypted_content?: string;
  status?: ItemStatus;
}
interface SummaryPart {
  type: 'summary_text';
  text: string;
}

interface FunctionCallItem {
  type: 'function_call';
  id: string;
  status: ItemStatus;
  call_id: string;
  name: string;
  /** The namespace that declares the tool. */
  namespace?: string;
  arguments: string;
}

interface CustomToolCallItem {
  type: 'custom_tool_call';
  id: string;
  status: ItemStatus;
  call_id: string;
  name: string;
  input: string;
}

interface ImageItem {
  type: 'image_generation_call';
  id: string;
  status: ItemStatus;
  output_format: string;
  /** The image in base64. */
  result: string;
}

/** An item of an answer. Items of unknown types are passed on unchanged. */
export type OutputItem =
  | MessageItem
  | ReasoningItem
  | FunctionCallItem
  | CustomToolCallItem
  | ImageItem
  | JsonObject;

interface Annotation {
  type: 'url_citation';
  url: string;
  title: string;
  start_index: number;
  end_index: number;
}

interface WireLogprob {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs: { token: string; logprob: number; bytes: number[] }[];
}

interface WireUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens?: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/**
 * The fields of a `response` object that change while it is generated. The other fields repeat the request.
 */
export interface ResponseProgress {
  status: ResponseStatus;
  output: OutputItem[];
  error: { code: string; message: string } | null;
  incomplete_details: { reason: string } | null;
  usage: WireUsage | null;
}

/** The longest `call_id` that the official API accepts, in characters. */
export const MAX_CALL_ID_LENGTH = 64;

/** Item types that refer to a stored object if they lack their content, with the field of that content. */
export const REFERENCE_ITEMS: Readonly<Record<string, string>> = {
  item_reference: 'id',
  image_generation_call: 'result',
};

/** Item types of an input that belong to the user; so do types that end in `_output`. */
export const USER_SIDE_ITEMS: ReadonlySet<string> = new Set([
  'compaction_trigger',
  'additional_tools',
  'mcp_approval_response',
]);

/**
 * Decodes why an answer ended. A completed answer with tool calls ended for the tool calls, one with a
 * refusal for the refusal.
 */
export function readFinish(response: JsonObject, kinds: ReadonlySet<Block['kind']>): FinishReason {
  if (response.status === 'incomplete') {
    const reason = textOf(objectOf(response.incomplete_details).reason);
    if (reason === 'content_filter') return 'filter';
    return reason.includes('tokens') || reason.includes('length') ? 'length' : 'other';
  }
  if (response.status === 'queued' || response.status === 'in_progress') return 'other';
  if (kinds.has('tool-call')) return 'tool';
  return kinds.has('refusal') ? 'refusal' : 'stop';
}

/** Decodes `usage` and `service_tier` of a `response` object. */
export function readUsage(response: JsonObject): Usage {
  const usage = objectOf(response.usage);
  const input = objectOf(usage.input_tokens_details);
  const cacheWrite = numberOf(input.cache_write_tokens);
  const tier = wordOf(OPENAI_READ_TIERS, response.service_tier);
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

/** Encodes `usage`. Unknown counts become 0, because clients expect numbers. */
export function writeUsage({ tokens, counters }: Usage): WireUsage {
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

/** Decodes an annotation. A file of the provider is only known by its name. */
export function readCitation(annotation: JsonObject): Citation {
  const title = textOf(annotation.title) || textOf(annotation.filename);
  const start = numberOf(annotation.start_index);
  const end = numberOf(annotation.end_index);
  return {
    ...(typeof annotation.url === 'string' ? { url: annotation.url } : {}),
    ...(title ? { title } : {}),
    ...(start === undefined ? {} : { start }),
    ...(end === undefined ? {} : { end }),
  };
}

/** Encodes a citation as an annotation of `text`, at the end of the text if the citation has no position. */
export function writeCitation({ url, title, start, end }: Citation, text: string): Annotation {
  const last = end ?? text.length;
  return {
    type: 'url_citation',
    url: url ?? '',
    title: title ?? '',
    start_index: Math.min(start ?? last, last),
    end_index: last,
  };
}

/** Encodes the log probabilities of one token and its alternatives. */
export function writeLogprob({ token, logprob, bytes, top }: TokenLogprob): WireLogprob {
  const plain = (entry: Omit<TokenLogprob, 'top'>): { token: string; logprob: number; bytes: number[] } => ({
    token: entry.token,
    logprob: entry.logprob,
    bytes: entry.bytes ?? [...Buffer.from(entry.token, 'utf8')],
  });
  return { ...plain({ token, logprob, ...(bytes ? { bytes } : {}) }), top_logprobs: top.map(plain) };
}
