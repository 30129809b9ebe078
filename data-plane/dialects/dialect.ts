/**
 * What a chat wire format is to the gateway: an inbound half that faces clients and an outbound half that
 * faces upstreams, around one canonical model. Everything here is synchronous and pure: bytes in, bytes out,
 * no I/O.
 */
import type { DialectName } from '@gateway/shared/catalog';
import type { GatewayError } from '@gateway/shared/failures';
import type { BlockHead, ChatEvent, ChatRequest, ChatResponse } from './canonical.ts';
import type { JsonObject } from './fields.ts';
import type { SseFrame } from './sse.ts';

export type { JsonObject } from './fields.ts';

export interface Dialect {
  name: DialectName;
  inbound: Inbound;
  outbound: Outbound;
}

/** Where the model's name and the verb come from when the path, not the body, carries them. */
export interface RequestPath {
  model?: string;
  stream?: boolean;
  query?: URLSearchParams;
}

/** Facing the client: its request in, our answer out. */
export interface Inbound {
  /** Reads a client's request. Throws `invalid_request` naming the parameter. */
  decodeRequest(wire: JsonObject, path: RequestPath): ChatRequest;
  /** A whole answer in this format, as a JSON value. */
  encodeResponse(response: ChatResponse, request: ChatRequest): unknown;
  /** A streamed answer in this format. */
  streamEncoder(request: ChatRequest): StreamEncoder;
  /** The body of an error answer. */
  encodeError(error: GatewayError): unknown;
  /** The last bytes of a stream that failed after it began; the socket is destroyed after them. */
  encodeStreamError(error: GatewayError): string;
  /** Sent between events after 15 s of silence. */
  keepAlive: string;
  /**
   * What this format cannot say of an answer, with the reason: the documented losses (`lossesOf` counts
   * them).
   */
  losses: Losses;
}

/** Parts of an answer that some format has no place for. */
export type AnswerFeature =
  | 'reasoning'
  | 'seal'
  | 'refusal'
  | 'media'
  | 'citations'
  | 'logprobs'
  | 'native'
  | 'choices'
  | 'stop-sequence'
  | 'custom-call';
export type Losses = Partial<Record<AnswerFeature, string>>;

/**
 * How many parts of this event a format with these losses cannot say. Further choices count once, by their
 * finish.
 */
export function lossesOf(event: ChatEvent, losses: Losses): number {
  if ('choice' in event && event.choice > 0 && losses.choices) return event.type === 'finish' ? 1 : 0;
  return featuresOf(event).filter((feature) => losses[feature]).length;
}

function featuresOf(event: ChatEvent): AnswerFeature[] {
  switch (event.type) {
    case 'citation':
      return ['citations'];
    case 'block-delta':
      return event.logprobs ? ['logprobs'] : [];
    case 'block-end':
      return event.seal ? ['seal'] : [];
    case 'finish':
      return event.stopSequence === undefined ? [] : ['stop-sequence'];
    case 'block-start':
      return featureOf(event.block);
    default:
      return [];
  }
}

function featureOf(block: BlockHead): AnswerFeature[] {
  if (block.kind === 'tool-call') return block.custom ? ['custom-call'] : [];
  return block.kind === 'text' ? [] : [block.kind];
}

/** Facing the upstream: our request out, its answer in. */
export interface Outbound {
  /** The same request for an upstream of this format that knows the model as `model`. */
  encodeRequest(request: ChatRequest, model: string): UpstreamRequest;
  /** The path (after the upstream's base URL) that a mirrored request goes to. */
  pathFor(model: string, stream: boolean): string;
  /** The header that carries a credential. */
  authorize(secret: string): Record<string, string>;
  decodeResponse(wire: unknown): ChatResponse;
  /** `choices` is how many answers the client asked for. */
  streamDecoder(choices: number): StreamDecoder;
  /** What an upstream's error answer means to the client; see the design on which bodies pass. */
  decodeError(status: number, body: string): GatewayError;
}

export interface UpstreamRequest {
  path: string;
  body: JsonObject;
  headers: Record<string, string>;
  /** JSON pointers into the client's request of what this format cannot carry. */
  dropped: string[];
}

/** Feed it frames as they come, take events; `end` is called at the clean end of the upstream's body. */
export interface StreamDecoder {
  /**
   * Whether the upstream has said something that events tell only later, or never: a client that gets its
   * bytes as they are has it already.
   */
  readonly withheld: boolean;
  /**
   * Whether the last frame may have been the end of the answer to whoever reads it as it is: nothing that was
   * begun is left to be said, or as much was said as was asked for. Such bytes are held back until more is
   * said, if it is.
   */
  readonly mayBeOver: boolean;
  push(frame: SseFrame): ChatEvent[];
  end(): ChatEvent[];
}

/** Feed it events, take bytes (text) to write. The text that follows a `done` event ends the stream. */
export interface StreamEncoder {
  push(event: ChatEvent): string;
}
