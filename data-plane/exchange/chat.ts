/** Chat in every client format: mirrored to an upstream of the same format, translated for every other. */
import type { IncomingHttpHeaders } from 'node:http';
import type { DialectName } from '@gateway/shared/catalog';
import type { Quirk } from '@gateway/shared/quirks';
import type { GatewayError } from '@gateway/shared/failures';
import type { Pieces } from '../call/pieces.ts';
import type { CompiledRoute, SoldModel } from '../config/config.ts';
import type { ChatRequest, ChatResponse } from '../dialects/canonical.ts';
import { checkConversation } from '../dialects/conversation.ts';
import type { Inbound, RequestPath, StreamEncoder } from '../dialects/dialect.ts';
import { writeJson } from '../dialects/exact-json.ts';
import { quirksOf } from '../upstreams/attempt.ts';
import type { AnsweredAttempt, Candidate } from '../upstreams/attempt.ts';
import { addressOf } from '../upstreams/connections.ts';
import type { OutgoingRequest } from '../upstreams/send.ts';
import { StreamNames, named, newAnswerId, withNames } from './answer-names.ts';
import type { AnswerNames } from './answer-names.ts';
import { readChatState } from './chat-state.ts';
import type { ChatState, Rename, StateContext } from './chat-state.ts';
import { openStream } from './stream-delivery.ts';
import { checkChatLimits } from './chat-limits.ts';
import type { Answer, Exchange } from './exchange.ts';
import { refuseLosses } from './dropped.ts';
import { lostPointers, quirkedBody } from './member-quirks.ts';
import { reshapedRequest } from './message-quirks.ts';
import type { ReshapedRequest } from './message-quirks.ts';
import { mirrored, refusePriced, refuseStored, withoutUnknown } from './mirror.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import { OutlinedRequest } from './outlined-request.ts';
import { textOf } from './json-scan.ts';
import { decodeMirrored, decodeWhole } from './read-whole.ts';
import type { RequestBody } from './request-body.ts';
import { parseChatBody } from './request-body.ts';
import { StreamMachine } from './stream-machine.ts';
import { clientAnswer, clientEvent } from './sent-request.ts';
import type { EncodedRequest, SentRequest } from './sent-request.ts';
import { ToolNames } from './tool-names.ts';
import { countLosses, wholeAnswer } from './whole-answer.ts';

/** Maximum size of a non-streamed answer, in bytes. */
export const ANSWER_BYTES = 64 * 1024 * 1024;

/** A format in which clients send requests. */
export interface ClientFormat {
  inbound: Inbound;
  /** The name of the format if upstreams have it too; else undefined. */
  dialect: DialectName | undefined;
}

/** A client's request. */
export interface ChatInput {
  bytes: Buffer | Pieces;
  path: RequestPath;
  headers: IncomingHttpHeaders;
  /** Present if the request may name stored objects. */
  state?: StateContext | undefined;
}

/** The exchange for a chat request. Throws `invalid_request` naming the parameter. */
export function openChat(format: ClientFormat, { bytes, ...input }: ChatInput): Exchange {
  return openParsedChat(format, { ...input, body: parseChatBody(bytes, format.inbound.mirror?.members) });
}

/** Like `openChat`, for a body that is already parsed. */
export function openParsedChat(
  format: ClientFormat,
  { body, path, headers, state: context }: Omit<ChatInput, 'bytes'> & { body: RequestBody },
): Exchange {
  const state = readChatState(body, context);
  const request = new OutlinedRequest({ inbound: format.inbound, body, path, state });
  refuseStored(state?.withoutFindings(body) ?? body);
  checkConversation(request.outline, state?.continues ?? false);
  return new ChatExchange({ format, body, path, request, headers, state });
}

interface ChatParts {
  format: ClientFormat;
  body: RequestBody;
  path: RequestPath;
  request: OutlinedRequest;
  headers: IncomingHttpHeaders;
  state: ChatState | undefined;
}

class ChatExchange implements Exchange {
  readonly #parts: ChatParts;
  readonly #sent: SentRequest[] = [];
  #passUnknown = false;
  /** The catalog's name of the model, for the answer. */
  #name = '';

  constructor(parts: ChatParts) {
    this.#parts = parts;
  }

  get model(): string {
    return this.#parts.request.outline.model;
  }
  get streamed(): boolean {
    return this.#parts.request.outline.stream;
  }
  /** Two upstreams may get a request, unless it is about objects that one of them stores. */
  get isHedgeable(): boolean {
    return this.#parts.state === undefined;
  }
  get preferred(): DialectName | undefined {
    return this.#parts.format.dialect;
  }
  get conversation(): string | undefined {
    return this.#parts.request.conversation(this.#parts.headers);
  }

  checkLimits(model: SoldModel): void {
    const { request, body, state } = this.#parts;
    this.#passUnknown = model.passUnknown;
    this.#name = model.name;
    checkChatLimits(request.outline, body.pieces.length, model);
    refusePriced(body, model);
    state?.check(model);
  }

  usableRoutes(routes: readonly CompiledRoute[]): readonly CompiledRoute[] {
    return this.#parts.state?.usableRoutes(routes) ?? routes;
  }

  refusal(refused: { status: number; body: string }, { dialect }: Candidate): GatewayError | undefined {
    return this.#parts.state?.refusal(refused, dialect);
  }

  outgoing(candidate: Candidate): OutgoingRequest {
    const { headers, request } = this.#parts;
    const quirks = quirksOf(candidate);
    const reshaped = quirks.length > 0 ? reshapedRequest(request.whole, quirks) : undefined;
    const isMirrored = !reshaped && this.#mirrors(candidate);
    const { path, body, extra, dropped, toolNames } = isMirrored
      ? this.#mirrored(candidate, quirks)
      : this.#translated(candidate, { quirks, reshaped });
    refuseLosses(dropped, headers);
    this.#sent.push({ candidate, isMirrored, dropped, toolNames, names: reshaped?.names });
    const accept = this.streamed ? 'text/event-stream' : 'application/json';
    return {
      method: 'POST',
      path: addressOf(candidate.provider).prefix + path,
      body,
      headers: {
        'content-type': 'application/json',
        ...outgoingHeaders(candidate, headers, accept),
        ...extra,
      },
    };
  }

  async receive(attempt: AnsweredAttempt): Promise<Answer> {
    const sent = this.#sent.findLast(({ candidate }) => candidate === attempt.candidate);
    if (!sent) throw new Error('an answer to a request that was not sent');
    if (this.streamed) return openStream(attempt, this.#streamOptions(sent));
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    return sent.isMirrored
      ? this.#mirroredAnswer(attempt, bytes, sent)
      : this.#decodedAnswer(attempt, bytes, sent);
  }

  #mirroredAnswer(attempt: AnsweredAttempt, bytes: Buffer, { dropped }: SentRequest): Answer {
    const { candidate } = attempt;
    const { format, state } = this.#parts;
    const scannable = textOf(bytes);
    const { id, tokens } = decodeMirrored(candidate, bytes, scannable);
    attempt.settle();
    const named = withNames({ bytes, scannable }, this.#mirrorNames(), format.dialect);
    const own = state?.answer(Buffer.isBuffer(named) ? named : named.bytes(), id, candidate) ?? named;
    return wholeAnswer(attempt, { contentType: 'application/json', bytes: own, tokens, dropped });
  }

  #decodedAnswer(attempt: AnsweredAttempt, bytes: Buffer, sent: SentRequest): Answer {
    const response = decodeWhole(attempt.candidate, bytes);
    attempt.settle();
    const { tokens } = response;
    const losses = countLosses(response, this.#parts.format.inbound.losses);
    const own = this.#encoded(clientAnswer(response, sent));
    const { dropped } = sent;
    return wholeAnswer(attempt, { contentType: 'application/json', bytes: own, tokens, dropped, losses });
  }

  #encoded(response: ChatResponse): string {
    const { request, format } = this.#parts;
    return writeJson(format.inbound.encodeResponse({ ...response, ...this.#ownNames() }, request.whole));
  }

  /** A stored answer has an id under which its client finds the answer again. */
  #mirrorNames(): Partial<AnswerNames> {
    return this.#parts.state?.namesAnswer ? { model: this.#name } : this.#ownNames();
  }

  #ownNames(): AnswerNames {
    return { id: newAnswerId(this.#parts.format.inbound.idPrefix), model: this.#name };
  }

  /** Whether the upstream has the client's format. */
  #isNative({ native }: Candidate): boolean {
    return native && this.#parts.format.dialect !== undefined;
  }

  /**
   * Whether the request may pass unchanged. Not if the answer is framed as a JSON array, which only the
   * gateway does, if a seal must be opened, or if the request compacts and the route does not offer that.
   */
  #mirrors(candidate: Candidate): boolean {
    const { jsonArray, compaction } = this.#parts.request.outline.shape;
    if (!this.#isNative(candidate) || jsonArray) return false;
    if (compaction && !candidate.route.families.includes('compact')) return false;
    return !this.#parts.body.holdsEnvelope();
  }

  #mirrored({ dialect, route }: Candidate, quirks: readonly Quirk[]): EncodedRequest {
    const { body, headers, format, request, state } = this.#parts;
    const streamed = this.streamed;
    const sent = mirrored(body, headers, {
      dialect: dialect.name,
      model: route.upstreamModel,
      streamed,
      tables: format.inbound.mirror,
      passUnknown: this.#passUnknown,
      stateEdits: state?.edits(),
      quirks,
      reasoning: request.outline.reasoning,
    });
    const path = dialect.outbound.pathFor(route.upstreamModel, streamed);
    return { path, body: sent.body, extra: sent.headers, dropped: sent.dropped };
  }

  #translated(
    candidate: Candidate,
    { quirks, reshaped }: { quirks: readonly Quirk[]; reshaped: ReshapedRequest | undefined },
  ): EncodedRequest {
    const { dialect, route } = candidate;
    // An upstream of the client's format would get members that only this format has, known or not.
    const { whole } = this.#parts.request;
    const known = this.#isNative(candidate) ? this.#knownRequest() : { request: whole, unknown: [] };
    // Reading the request again loses what the quirks have changed.
    const shaped = reshaped && known.request !== whole ? reshapedRequest(known.request, quirks) : reshaped;
    const toolNames = new ToolNames(shaped?.request ?? known.request, dialect.name);
    const sent = toolNames.sent(shaped?.request ?? known.request);
    const encoded = dialect.outbound.encodeRequest(sent, route.upstreamModel);
    const dropped = [...known.unknown, ...encoded.dropped, ...(shaped?.lost ?? [])];
    if (quirks.length > 0) {
      const { reasoning } = known.request;
      const { body, lost } = quirkedBody(encoded.body, { quirks, dialect: dialect.name, reasoning });
      dropped.push(...lostPointers(lost, known.request));
      encoded.body = body;
    }
    const isNative = this.#isNative(candidate);
    const members = { ...encoded.body, ...(isNative && this.#parts.state?.encodedMembers()) };
    return { path: encoded.path, body: writeJson(members), extra: encoded.headers, dropped, toolNames };
  }

  /** The request without the members that its table does not know, and the pointers of those. */
  #knownRequest(): { request: ChatRequest; unknown: string[] } {
    const { body, format, path, request } = this.#parts;
    if (this.#passUnknown || body.findings.unknown.length === 0)
      return { request: request.whole, unknown: [] };
    const { value, dropped } = withoutUnknown(body);
    const own = this.#parts.state?.withoutReferences(value) ?? value;
    return { request: format.inbound.decodeRequest(own, path), unknown: dropped };
  }

  #streamOptions(sent: SentRequest): Parameters<typeof openStream>[1] {
    const { format, state } = this.#parts;
    const { choices, shape } = this.#parts.request.outline;
    const { candidate, isMirrored, dropped } = sent;
    const encoder = isMirrored ? undefined : this.#encoder(sent);
    const upstreamNames = new StreamNames(format.dialect ?? 'openai-chat', this.#mirrorNames());
    const rename: Rename = (bytes, events) => upstreamNames.replace(bytes, events);
    const array = shape.jsonArray === true;
    const machine = new StreamMachine({
      choices,
      decoder: candidate.dialect.outbound.streamDecoder(choices),
      dropUsageFrames: candidate.dialect.name === 'openai-chat' && shape.usageInStream !== true,
      rename: state?.renamer(candidate, rename) ?? rename,
      ...(encoder ? { encoder: { stream: encoder, losses: format.inbound.losses } } : {}),
    });
    return {
      machine,
      contentType: array ? 'application/json' : 'text/event-stream; charset=utf-8',
      // Only white space may stand between the items of an array.
      keepAlive: array ? '\n' : format.inbound.keepAlive,
      streamError: (error) =>
        encoder?.push({ type: 'error', error }) ?? format.inbound.encodeStreamError(error),
      dropped,
    };
  }

  #encoder(sent: SentRequest): StreamEncoder {
    const { request, format } = this.#parts;
    const stream = format.inbound.streamEncoder(request.whole);
    const names = this.#ownNames();
    return { push: (event) => stream.push(named(clientEvent(event, sent), names)) };
  }
}
