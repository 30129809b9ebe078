/**
 * The interface of a dialect: an inbound half for clients and an outbound half for upstreams, both around
 * the canonical model. All functions are synchronous and pure, without I/O.
 */
import type { DialectName, ProtocolName } from '@gateway/shared/catalog';
import type { GatewayError } from '@gateway/shared/failures';
import type { BlockHead, ChatEvent, ChatRequest, ChatResponse } from './canonical.ts';
import type { JsonObject } from './fields.ts';
import type { HeaderTable } from './header-table.ts';
import type { MemberTable } from './member-table.ts';
import type { SseFrame } from './sse.ts';

/** A chat wire format that upstreams can speak. */
export interface UpstreamDialect {
  name: ProtocolName;
  outbound: Outbound;
}

/** A chat wire format that clients and upstreams can speak. */
export interface Dialect extends UpstreamDialect {
  name: DialectName;
  inbound: Inbound;
}

/** Model, verb and query of formats that carry them in the path instead of the body. */
export interface RequestPath {
  model?: string;
  stream?: boolean;
  query?: URLSearchParams;
}

/** The half for clients: decodes requests, encodes answers. */
export interface Inbound {
  /** Decodes a client's request. Throws `invalid_request` with the JSON pointer of the offending field. */
  decodeRequest(wire: JsonObject, path: RequestPath): ChatRequest;
  /** Encodes a whole answer as a JSON value. */
  encodeResponse(response: ChatResponse, request: ChatRequest): unknown;
  /** Returns an encoder for one streamed answer. */
  streamEncoder(request: ChatRequest): StreamEncoder;
  /** How ids of answers begin in this format. */
  idPrefix: string;
  /** Encodes the body of an error answer. */
  encodeError(error: GatewayError): unknown;
  /** Encodes the last bytes of a stream that failed after it began. The socket is destroyed after them. */
  encodeStreamError(error: GatewayError): string;
  /** Bytes that are sent between events after 15 s of silence. */
  keepAlive: string;
  /** The features of an answer that this format cannot carry, with the reason. Counted by `lossesOf`. */
  losses: Losses;
  /** Members and headers that pass on a mirror. Absent if the format is never mirrored. */
  mirror?: MirrorTables;
}

/** Members and headers of a client's request that pass to an upstream of the same format. */
export interface MirrorTables {
  members: MemberTable;
  headers: HeaderTable;
}

/** Features of an answer that some format cannot carry. */
type AnswerFeature =
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
 * Number of losses in this event for a format with these losses. A lost choice counts once, at its finish.
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

/** The half for upstreams: encodes requests, decodes answers. */
interface Outbound {
  /** Encodes a request; `model` is the upstream's name of the model. */
  encodeRequest(request: ChatRequest, model: string): UpstreamRequest;
  /** The path of a mirrored request, relative to the upstream's base URL. */
  pathFor(model: string, stream: boolean): string;
  /** The header that carries the credential. */
  authorize(secret: string): Record<string, string>;
  /**
   * Decodes a whole answer. Throws `upstream_failed` or `upstream_busy` if the body is an error or no
   * answer.
   */
  decodeResponse(wire: unknown): ChatResponse;
  /** Returns a decoder for one streamed answer; `choices` is the number of choices requested. */
  streamDecoder(choices: number): StreamDecoder;
  /** Turns an upstream's error answer into the failure for the client (see upstream-errors.ts). */
  decodeError(status: number, body: string): GatewayError;
}

export interface UpstreamRequest {
  path: string;
  body: JsonObject;
  headers: Record<string, string>;
  /** JSON pointers, into the client's request, of everything that this format cannot carry. */
  dropped: string[];
}

/** Decodes a stream frame by frame. `end` is called after the clean end of the upstream's body. */
export interface StreamDecoder {
  /**
   * Whether the frames held content that no event has carried yet, or ever will. A mirrored client already
   * has that content.
   */
  readonly hasUnreportedContent: boolean;
  /**
   * Whether a mirrored client may take the last frame for the end of the answer: no choice that was begun is
   * unfinished, or as many choices as requested have finished. Such a frame is held back until another one
   * follows or the charge is durable.
   */
  readonly mayBeComplete: boolean;
  /**
   * Whether the last frame only reported progress. Such frames may come often, or repeat the whole request,
   * before there is any output. Absent if the format has no such frames.
   */
  readonly isProgress?: boolean;
  /**
   * The member of the last frame whose value is the text of its only event, a `block-delta`, if the frame has
   * no other effect: then a frame that is the same but for this text may be skipped. Undefined for other
   * frames, absent if the format has no such frames. It may also name a member without text.
   */
  readonly textMember?: string | undefined;
  push(frame: SseFrame): ChatEvent[];
  end(): ChatEvent[];
}

/** Encodes a stream event by event, as text. The text for a `done` event ends the stream. */
export interface StreamEncoder {
  push(event: ChatEvent): string;
}
