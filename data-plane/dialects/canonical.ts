/**
 * The one canonical model of a chat exchange, the most structured of the formats: encoders drop boundaries
 * and invent none. What a target may have to drop knows its JSON pointer in the client's request: messages,
 * parts and tools by `at`, scalars by `pointers`, unknown fields by `extras`.
 */
import type { DialectName } from '@gateway/shared/catalog';
import type { TokenCounts } from '@gateway/shared/records';
import type { GatewayError } from '@gateway/shared/failures';
import type { JsonObject } from './fields.ts';

// ------------------------------------------------------------------------------------------------ request

export interface ChatRequest {
  model: string;
  stream: boolean;
  /** How many answers are asked for (`n`, `candidateCount`). */
  choices: number;
  /** In the client's order. Top-level instructions come first, as a message of role system. */
  messages: Message[];
  tools: Tool[];
  /** Absent: the client said nothing (every format then means auto). */
  toolChoice?: ToolChoice;
  /** False: at most one tool call per answer. */
  parallelToolCalls?: boolean;
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stop: string[];
  seed?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** Log probabilities of the sampled tokens are asked for, with this many alternatives each. */
  logprobs?: { top: number };
  reasoning?: Reasoning;
  format?: AnswerFormat;
  verbosity?: string;
  /** What the answer may consist of, where the client said so: text, audio, image. */
  modalities?: string[];
  /** The end user as the client names them. */
  user?: string;
  metadata?: Record<string, string>;
  serviceTier?: string;
  cacheKey?: string;
  cacheRetention?: string;
  /** JSON pointer of each scalar above that the client sent, e.g. `maxOutputTokens: '/max_tokens'`. */
  pointers: Partial<Record<ScalarName, string>>;
  /** Fields that this model has no word for: only their dialect gives them back, every other drops them. */
  extras: Extra[];
  /** How the client wants the answer written; only the client's own dialect reads it. */
  shape: AnswerShape;
}

export type ScalarName = Exclude<
  keyof ChatRequest,
  'model' | 'stream' | 'messages' | 'tools' | 'pointers' | 'extras' | 'shape'
>;

/** `dialect` is null for what no upstream format has a word for. */
export interface Extra {
  dialect: DialectName | null;
  pointer: string;
  value: unknown;
}

export interface AnswerShape {
  /** Chat: the stream ends with a usage chunk (`stream_options.include_usage`). */
  usageInStream?: boolean;
  /** Chat: the deprecated `functions` were used, so calls are answered as `function_call`. */
  legacyFunctions?: boolean;
  /** Generative: the stream is one JSON array instead of server-sent events. */
  jsonArray?: boolean;
  /** Legacy completions: the prompt is to be repeated before the text. */
  echo?: string;
  /** Responses: the answer is a summary, written as a `compaction` item. */
  compaction?: boolean;
}

/** Tool results are parts of user messages, whatever role their format gives them. */
export interface Message {
  role: 'system' | 'developer' | 'user' | 'assistant';
  parts: Part[];
  at: string;
  name?: string;
}

interface Located {
  /** JSON pointer into the client's request. */
  at: string;
  /** The prompt up to here is worth caching. */
  cache?: { ttl?: string };
}

export type Part = Located & PartBody;
export type PartBody =
  | { kind: 'text'; text: string; citations?: Citation[]; seal?: Seal }
  | ReasoningBody
  | { kind: 'refusal'; text: string }
  | ToolCallBody
  | ToolResultBody
  | { kind: 'media'; media: Media; seal?: Seal }
  | NativeBody;

/** Visible thinking (`text`, may be empty) and what proves it. `redacted`: there never was a visible text. */
export interface ReasoningBody {
  kind: 'reasoning';
  text: string;
  redacted?: boolean;
  seal?: Seal;
}

/** `text` is the arguments as JSON text (an object, `{}` where there are none); free text where `custom`. */
export interface ToolCallBody {
  kind: 'tool-call';
  id: string;
  name: string;
  text: string;
  custom?: boolean;
  seal?: Seal;
}

/** `id` and `name` are those of the call; `name` is '' where no call of that id is in the request. */
export interface ToolResultBody {
  kind: 'tool-result';
  id: string;
  name: string;
  custom?: boolean;
  /** Where the client says that the call failed; absent: it did not. */
  errorAt?: string;
  /** Text and media parts, and native ones. */
  parts: Part[];
}

/** What only one dialect understands: a block of its server-side tools, an item of unknown kind. */
export interface NativeBody {
  kind: 'native';
  dialect: DialectName;
  value: JsonObject;
}

export interface Media {
  type: 'image' | 'audio' | 'video' | 'file';
  /** Empty where unknown (a URL need not tell). */
  mediaType: string;
  /** Base64 without `data:` prefix, a URL, or plain text (Anthropic's text documents). */
  source: { base64: string } | { url: string } | { text: string };
  /** Image detail: auto, low, high. */
  detail?: string;
  name?: string;
}

/** What its own provider must see again, unchanged; other wires carry it wrapped (seals.ts). */
export interface Seal {
  dialect: DialectName;
  value: string;
  id?: string;
}

export interface Citation {
  url?: string;
  title?: string;
  text?: string;
  start?: number;
  end?: number;
}

export type Tool = Located & (FunctionTool | CustomTool | BuiltinTool);

/** `name` is unique: a tool of a namespace is called `<namespace>__<name>` where its own name is taken. */
export interface FunctionTool {
  kind: 'function';
  name: string;
  description: string;
  /** JSON Schema; absent where the client gave none. */
  parameters?: JsonObject;
  strict?: boolean;
  namespace?: { name: string; description: string; tool: string };
}

/** A tool whose input is free text. `format` is OpenAI's grammar. */
export interface CustomTool {
  kind: 'custom';
  name: string;
  description: string;
  format?: JsonObject;
}

/** A provider's own server-side tool: `value` for its own dialect, `builtin` where others know it, too. */
export interface BuiltinTool {
  kind: 'builtin';
  dialect: DialectName;
  value: JsonObject;
  builtin?: 'web-search' | 'web-fetch' | 'code-execution';
  allowedDomains?: string[];
  blockedDomains?: string[];
}

export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { name: string }
  | { allowed: string[]; mode: 'auto' | 'required' };

/** `effort` and `budget` are two ways to say how much: effort.ts turns one into the other. */
export interface Reasoning {
  effort?: Effort;
  /** Tokens; 0 is off. */
  budget?: number;
  /** The model decides how much. */
  adaptive?: boolean;
  /** Whether the thinking is to be shown; a word is the wished kind of summary (auto, concise, detailed). */
  visible?: boolean | string;
}
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

export type AnswerFormat =
  | { kind: 'text' }
  | { kind: 'json' }
  | { kind: 'schema'; schema: JsonObject; name?: string; description?: string; strict?: boolean };

// ------------------------------------------------------------------------------------------------ answer

/** `filter`: the provider stopped it; `refusal`: the model declined; `pause`: a server-side turn goes on. */
export type FinishReason = 'stop' | 'length' | 'tool' | 'filter' | 'pause' | 'refusal' | 'error' | 'other';

/**
 * An answer in time. Rules that decoders keep and encoders rely on:
 * - `start` first, once. Then blocks and finishes of each choice; events of different choices may interleave.
 * - Within one choice blocks never overlap: each ends before the next starts, and deltas, citations and the
 *   end belong to the open block. Decoders put interleaved parallel tool calls in order (blocks.ts).
 * - The seal stands at a block's end; where it is known at the start, there too.
 * - Media and native blocks have no deltas but a transcript; they are whole at their start.
 * - `finish` comes once per choice, as soon as the upstream says it, after the choice's last block ended, and
 *   nothing of that choice follows. From a finish on that may be the last, the bytes of a stream are held
 *   back until the charge is durable (ending.ts).
 * - `usage` may come at any time after `start` and repeatedly; each replaces the one before.
 * - `done` is last: the upstream's own terminal event was seen, or its body ended cleanly after every choice
 *   had finished, where the format allows that. A stream that ends otherwise yields `error`, which is last
 *   too.
 */
export type ChatEvent =
  | { type: 'start'; id: string; model: string }
  | { type: 'block-start'; choice: number; block: BlockHead; seal?: Seal }
  | { type: 'block-delta'; choice: number; text: string; logprobs?: TokenLogprob[] }
  | { type: 'citation'; choice: number; citation: Citation }
  | { type: 'block-end'; choice: number; seal?: Seal }
  | { type: 'finish'; choice: number; reason: FinishReason; stopSequence?: string }
  | ({ type: 'usage' } & Usage)
  | { type: 'done' }
  | { type: 'error'; error: GatewayError };

export type BlockHead =
  | { kind: 'text' }
  | { kind: 'reasoning'; redacted?: boolean }
  | { kind: 'refusal' }
  | { kind: 'tool-call'; id: string; name: string; custom?: boolean }
  | { kind: 'media'; media: Media }
  | NativeBody;

/** `text`: prose, thinking, refusal, a tool call's arguments, a medium's transcript; '' for native blocks. */
export type Block = BlockHead & {
  text: string;
  citations?: Citation[];
  logprobs?: TokenLogprob[];
  seal?: Seal;
};

export interface TokenLogprob {
  token: string;
  logprob: number;
  bytes?: number[] | null;
  top: { token: string; logprob: number; bytes?: number[] | null }[];
}

/** `tokens` goes to the usage row, the rest only to the client. The tier is the one that really served. */
export interface Usage {
  tokens: TokenCounts;
  counters?: { cacheWrite?: number; inputAudio?: number; outputAudio?: number };
  serviceTier?: string;
}

export interface Choice {
  blocks: Block[];
  finish: FinishReason;
  stopSequence?: string;
}

/** A whole answer. `choices[k]` is choice k; there is at least one. */
export interface ChatResponse extends Usage {
  id: string;
  model: string;
  choices: Choice[];
}

export const NO_TOKENS: TokenCounts = { input: null, output: null, cached: null, reasoning: null };
