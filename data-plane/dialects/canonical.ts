/**
 * The canonical model of chat requests and answers, between all wire formats. It is more structured than any
 * of them: encoders may drop boundaries but never invent them. Everything that may be dropped carries its
 * JSON pointer: messages, parts and tools as `at`, scalars and members of media in `pointers`, unknown
 * fields in `extras`.
 */
import type { ProtocolName } from '@gateway/shared/catalog';
import type { TokenCounts } from '@gateway/shared/records';
import type { GatewayError } from '@gateway/shared/failures';
import type { JsonObject } from './fields.ts';
import type { CacheRetention, Detail, Modality, ServiceTier, Verbosity } from './vocabularies.ts';

export interface ChatRequest {
  model: string;
  stream: boolean;
  /** Number of alternative outputs requested (`n`, `candidateCount`). */
  choices: number;
  /** In the client's order. Top-level instructions come first, as a message with role system. */
  messages: Message[];
  tools: Tool[];
  /** Absent if the client sent none; every format then means auto. */
  toolChoice?: ToolChoice;
  /** False allows at most one tool call per answer. */
  parallelToolCalls?: boolean;
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stop: string[];
  seed?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  /** Requests log probabilities of the sampled tokens, each with `top` alternatives. */
  logprobs?: { top: number };
  reasoning?: Reasoning;
  format?: AnswerFormat;
  verbosity?: Verbosity;
  /** Permitted kinds of output. Absent if the client sent none. */
  modalities?: Modality[];
  /** The client's identifier of its end user. */
  user?: string;
  metadata?: Record<string, string>;
  serviceTier?: ServiceTier;
  cacheKey?: string;
  cacheRetention?: CacheRetention;
  /** JSON pointer of each scalar above that the client sent, for example `maxOutputTokens: '/max_tokens'`. */
  pointers: Partial<Record<ScalarName, string>>;
  /** Fields that this model does not know. Only their own dialect sends them on; all others drop them. */
  extras: Extra[];
  /** How the client wants its answer encoded. Read only by the client's own dialect. */
  shape: AnswerShape;
}

export type ScalarName = Exclude<
  keyof ChatRequest,
  'model' | 'stream' | 'messages' | 'tools' | 'pointers' | 'extras' | 'shape'
>;

/** A field unknown to the canonical model. `dialect` is null if no upstream format knows the field. */
export interface Extra {
  dialect: ProtocolName | null;
  pointer: string;
  value: unknown;
}

interface AnswerShape {
  /** Chat and completions: the stream ends with a usage chunk (`stream_options.include_usage`). */
  usageInStream?: boolean;
  /** Chat: the client sent the deprecated `functions`, so tool calls are encoded as `function_call`. */
  legacyFunctions?: boolean;
  /** Generative language: the stream is one JSON array instead of server-sent events. */
  jsonArray?: boolean;
  /** Completions: the prompt to repeat before the text. */
  echo?: string;
  /** Responses: the answer is a summary, encoded as a `compaction` item. */
  compaction?: boolean;
}

/** One message. Tool results are parts of user messages, whichever role the wire format gives them. */
export interface Message {
  role: 'system' | 'developer' | 'user' | 'assistant';
  parts: Part[];
  at: string;
  name?: string;
}

interface Located {
  /** JSON pointer into the client's request. */
  at: string;
  /** Marks the end of a prompt prefix that the provider should cache. */
  cache?: { ttl?: string };
}

export type Part = Located & PartBody;
export type PartBody =
  | { kind: 'text'; text: string; seal?: Seal }
  | ReasoningBody
  | { kind: 'refusal'; text: string }
  | ToolCallBody
  | ToolResultBody
  | { kind: 'media'; media: Media; seal?: Seal }
  | NativeBody;

/** Visible thinking (`text`, may be empty) with its seal. `redacted`: the provider never showed a text. */
interface ReasoningBody {
  kind: 'reasoning';
  text: string;
  redacted?: boolean;
  seal?: Seal;
}

/** `text` holds the arguments as the JSON text of an object, or free text if the tool is `custom`. */
export interface ToolCallBody {
  kind: 'tool-call';
  id: string;
  name: string;
  text: string;
  custom?: boolean;
  seal?: Seal;
}

/** `id` and `name` are those of the tool call; `name` is '' if the request holds no call with that id. */
export interface ToolResultBody {
  kind: 'tool-result';
  id: string;
  name: string;
  custom?: boolean;
  /** JSON pointer of the client's mark that the call failed; absent if there is none. */
  errorAt?: string;
  /** Text and media parts, and native ones. */
  parts: Part[];
}

/** A part that only one dialect understands, such as a block of a server-side tool. */
export interface NativeBody {
  kind: 'native';
  dialect: ProtocolName;
  value: JsonObject;
}

export interface Media {
  type: 'image' | 'audio' | 'video' | 'file';
  /** MIME type; '' if unknown. */
  mediaType: string;
  /** Base64 without `data:` prefix, a URL, or plain text (as in Anthropic's text documents). */
  source: { base64: string } | { url: string } | { text: string };
  /** Resolution in which the model looks at an image. */
  detail?: Detail;
  name?: string;
  /** JSON pointers of the two members above that the client sent. */
  pointers?: { detail?: string; name?: string };
}

/** Signature or encrypted reasoning that clients send back to its provider. seals.ts wraps it. */
export interface Seal {
  dialect: ProtocolName;
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

/** `name` is unique: if it is taken, a tool of a namespace is named `<namespace>__<name>`. */
export interface FunctionTool {
  kind: 'function';
  name: string;
  description: string;
  /** JSON Schema; absent if the client sent none. */
  parameters?: JsonObject;
  strict?: boolean;
  /** The namespace that declares the tool, and the tool's name within it. */
  namespace?: { name: string; description: string; tool: string };
}

/** A tool whose input is free text, restricted by OpenAI's grammar `format` if given. */
export interface CustomTool {
  kind: 'custom';
  name: string;
  description: string;
  format?: JsonObject;
}

/** A provider's server-side tool: `value` for its own dialect, `builtin` if others have one like it. */
export interface BuiltinTool {
  kind: 'builtin';
  dialect: ProtocolName;
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

/** How much the model should think: `effort` or `budget`, which effort.ts converts into each other. */
export interface Reasoning {
  effort?: Effort;
  /** Thinking budget in tokens; 0 switches thinking off. */
  budget?: number;
  /** True if the model decides how much to think. */
  adaptive?: boolean;
  /** Whether the thinking is shown; a string is the requested kind of summary (auto, concise, detailed). */
  visible?: boolean | string;
}
/** Efforts from weakest to strongest. */
export const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;
export type Effort = (typeof EFFORTS)[number];

export type AnswerFormat =
  | { kind: 'text' }
  | { kind: 'json' }
  | { kind: 'schema'; schema: JsonObject; name?: string; description?: string; strict?: boolean };

/** `filter`: a filter stopped the choice. `refusal`: the model declined. `pause`: the turn goes on later. */
export type FinishReason = 'stop' | 'length' | 'tool' | 'filter' | 'pause' | 'refusal' | 'error' | 'other';

/**
 * One event of an answer. Decoders guarantee these rules and encoders rely on them:
 * - `start` comes first and once. Events of different choices may interleave.
 * - Blocks of one choice never overlap: each ends before the next starts, and deltas, citations and the end
 *   belong to the open block. Decoders serialise interleaved parallel tool calls (blocks.ts).
 * - A block's seal is given at its end, and also at its start if it is known then.
 * - Media and native blocks are complete at their start. Only a transcript of a medium comes as deltas.
 * - `finish` comes once per choice, as soon as the upstream sends it, and is the last event of the choice.
 * - `usage` may come at any time after `start`, repeatedly; each replaces the one before.
 * - `done` comes last, after the upstream's own terminal event or, if the format allows that, after a clean
 *   end of the body when every choice has finished. Otherwise `error` comes last.
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

/** Data of a block that is known when it starts. */
export type BlockHead =
  | { kind: 'text' }
  | { kind: 'reasoning'; redacted?: boolean }
  | { kind: 'refusal' }
  | { kind: 'tool-call'; id: string; name: string; custom?: boolean }
  | { kind: 'media'; media: Media }
  | NativeBody;

/** A whole block. `text` is prose, thinking, refusal, arguments or transcript; '' in native blocks. */
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

/** `tokens` goes to the usage row, the rest only to the client. `serviceTier` is the tier that was used. */
export interface Usage {
  tokens: TokenCounts;
  counters?: { cacheWrite?: number; inputAudio?: number; outputAudio?: number };
  serviceTier?: ServiceTier;
}

/** One of the alternative outputs of an answer. */
export interface Choice {
  blocks: Block[];
  finish: FinishReason;
  stopSequence?: string;
}

/** A whole answer. `choices[k]` is the choice with index k; there is at least one. */
export interface ChatResponse extends Usage {
  id: string;
  model: string;
  choices: Choice[];
}

export const NO_TOKENS: TokenCounts = { input: null, output: null, cached: null, reasoning: null };
