/** The responses format as it stands on the wire. https://platform.openai.com/docs/api-reference/responses */
import type { JsonObject } from '../fields.ts';

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface OutputText {
  type: 'output_text';
  text: string;
  annotations: Annotation[];
  logprobs: WireLogprob[];
}
export interface RefusalPart {
  type: 'refusal';
  refusal: string;
}

export interface MessageItem {
  type: 'message';
  id: string;
  status: ItemStatus;
  role: 'assistant';
  content: (OutputText | RefusalPart)[];
}

/** `encrypted_content` is what has to come back with the next turn; `summary` is what people may read. */
export interface ReasoningItem {
  type: 'reasoning';
  id: string;
  summary: SummaryPart[];
  encrypted_content?: string;
  status?: ItemStatus;
}
export interface SummaryPart {
  type: 'summary_text';
  text: string;
}

export interface FunctionCallItem {
  type: 'function_call';
  id: string;
  status: ItemStatus;
  call_id: string;
  name: string;
  /** The namespace the tool was declared in. */
  namespace?: string;
  arguments: string;
}

export interface CustomToolCallItem {
  type: 'custom_tool_call';
  id: string;
  status: ItemStatus;
  call_id: string;
  name: string;
  input: string;
}

export interface ImageItem {
  type: 'image_generation_call';
  id: string;
  status: ItemStatus;
  output_format: string;
  /** Base64. */
  result: string;
}

/** Items of kinds that only this format knows travel as they are. */
export type OutputItem =
  | MessageItem
  | ReasoningItem
  | FunctionCallItem
  | CustomToolCallItem
  | ImageItem
  | JsonObject;

export interface Annotation {
  type: 'url_citation';
  url: string;
  title: string;
  start_index: number;
  end_index: number;
}

export interface WireLogprob {
  token: string;
  logprob: number;
  bytes: number[];
  top_logprobs: { token: string; logprob: number; bytes: number[] }[];
}

export interface WireUsage {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number; cache_write_tokens?: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
}

export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed';

/** The fields of a `response` object that change while it is generated; the others repeat the request. */
export interface ResponseProgress {
  status: ResponseStatus;
  output: OutputItem[];
  error: { code: string; message: string } | null;
  incomplete_details: { reason: string } | null;
  usage: WireUsage | null;
}

/** Longest `call_id` that the official API accepts, in characters. */
export const MAX_CALL_ID_LENGTH = 64;

/** Item kinds that refer to something kept at the provider when they come without their content. */
export const REFERENCE_ITEMS: Readonly<Record<string, string>> = {
  item_reference: 'id',
  image_generation_call: 'result',
};

/** Item kinds of an input that stand on the user's side; unknown kinds that end in `_output` do as well. */
export const USER_SIDE_ITEMS: ReadonlySet<string> = new Set([
  'compaction_trigger',
  'additional_tools',
  'mcp_approval_response',
]);
