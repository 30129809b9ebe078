/**
 * The one canonical model of a chat exchange. It is the most structured of the formats (explicit blocks), so that
 * encoders drop boundaries instead of inventing them.
 */
import type { TokenCounts } from '@gateway/shared/records';
import type { GatewayError } from '@gateway/shared/failures';

export type FinishReason = 'stop' | 'length' | 'tool' | 'filter' | 'pause' | 'refusal';

/**
 * An answer in time. Order: `start`, then blocks and finishes of each choice, then `usage`, then `done`.
 * `finish` comes as soon as the upstream says it: from the last open choice's finish on, the bytes of a stream are
 * held back until the charge is durable. `done` means that the upstream's own terminal event was seen (or that its body
 * ended cleanly after every choice had finished, where the format allows it). A stream that ends otherwise yields `error`.
 */
export type ChatEvent =
  | { type: 'start'; id: string; model: string }
  | { type: 'block-start'; choice: number; block: BlockHead }
  | { type: 'block-delta'; choice: number; text: string }
  | { type: 'block-end'; choice: number; signature?: string }
  | { type: 'finish'; choice: number; reason: FinishReason; stopSequence?: string }
  | { type: 'usage'; tokens: TokenCounts }
  | { type: 'done' }
  | { type: 'error'; error: GatewayError };

export type BlockHead =
  | { kind: 'text' }
  | { kind: 'reasoning' }
  | { kind: 'refusal' }
  | { kind: 'tool-call'; id: string; name: string };

export interface ChatRequest {
  model: string;
  stream: boolean;
  /** How many answers are asked for (`n`). */
  choices: number;
}

export interface ChatResponse {
  id: string;
  model: string;
  tokens: TokenCounts;
}
