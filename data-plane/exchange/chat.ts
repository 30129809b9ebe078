/** Chat in every client format: mirrored to an upstream of the same format, translated for every other. */
import type { IncomingHttpHeaders } from 'node:http';
import type { DialectName } from '@gateway/shared/catalog';
import type { GatewayError } from '@gateway/shared/failures';
import type { CompiledRoute, SoldModel } from '../config/config.ts';
import type { ChatRequest, ChatResponse } from '../dialects/canonical.ts';
import { checkConversation } from '../dialects/conversation.ts';
import type { Inbound, RequestPath, StreamEncoder } from '../dialects/dialect.ts';
import { parseJson, writeJson } from '../dialects/exact-json.ts';
import { isOrdinary } from '../dialects/member-table.ts';
import { holdsEnvelope } from '../dialects/seals.ts';
import { invalidRequest } from '../call/refusals.ts';
import type { AnsweredAttempt, Candidate } from '../upstreams/attempt.ts';
import { addressOf } from '../upstreams/connections.ts';
import type { OutgoingRequest } from '../upstreams/send.ts';
import { StreamNames, named, newAnswerId, withNames } from './answer-names.ts';
import type { AnswerNames } from './answer-names.ts';
import { readChatState } from './chat-state.ts';
import type { ChatState, Rename, StateContext } from './chat-state.ts';
import { openStream } from './stream-delivery.ts';
import { conversationKey } from './conversation-key.ts';
import type { Answer, Exchange } from './exchange.ts';
import { nameDropped, refuseLosses } from './dropped.ts';
import { mirrored, refusePriced, refuseStored, withoutUnknown } from './mirror.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import type { RequestBody } from './request-body.ts';
import { parseRequestBody } from './request-body.ts';
import { StreamMachine } from './stream-machine.ts';
import { ToolNames } from './tool-names.ts';
import { asUnreadable } from './unreadable.ts';
import { countLosses, wholeAnswer } from './whole-answer.ts';

/** Maximum size of a non-streamed answer, in bytes. */
export const ANSWER_BYTES = 64 * 1024 * 1024;

/** A format that clients speak. */
export interface ClientFormat {
  inbound: Inbound;
  /** Its name if upstreams speak it too. */
  dialect: DialectName | undefined;
}

/** A client's request. */
export interface ChatInput {
  bytes: Buffer;
  path: RequestPath;
  headers: IncomingHttpHeaders;
  /** Present if the request may name stored objects. */
  state?: StateContext | undefined;
}

/** The exchange for a chat request. Throws `invalid_request` naming the parameter. */
export function openChat(format: ClientFormat, { bytes, ...input }: ChatInput): Exchange {
  return openParsedChat(format, { body: parseRequestBody(bytes, format.inbound.mirror?.members), ...input });
}

/** Like `openChat`, for a body that is already parsed. */
export function openParsedChat(
  format: ClientFormat,
  { body, path, headers, state: context }: Omit<ChatInput, 'bytes'> & { body: RequestBody },
): Exchange {
  const state = readChatState(body, context);
  const request = format.inbound.decodeRequest(state?.withoutReferences(body.exact) ?? body.exact, path);
  refuseStored(state?.withoutFindings(body) ?? body);
  checkConversation(request, state?.continues ?? false);
  return new ChatExchange({ format, body, path, request, headers, state });
}

interface ChatParts {
  format: ClientFormat;
  body: RequestBody;
  path: RequestPath;
  request: ChatRequest;
  headers: IncomingHttpHeaders;
  state: ChatState | undefined;
}

class ChatExchange implements Exchange {
  readonly #parts: ChatParts;
  #dropped: string[] = [];
  #holdsEnvelope: boolean | undefined;
  #passUnknown = false;
  /** The catalog's name of the model, for the answer. */
  #name = '';
  /** Of the last translated request. */
  #toolNames: ToolNames | undefined;

  constructor(parts: ChatParts) {
    this.#parts = parts;
  }

  get model(): string {
    return this.#parts.request.model;
  }
  get streamed(): boolean {
    return this.#parts.request.stream;
  }
  get preferred(): DialectName | undefined {
    return this.#parts.format.dialect;
  }
  get conversation(): string {
    const { request, body, headers } = this.#parts;
    return conversationKey({ request, body: body.value, headers });
  }

  checkLimits(model: SoldModel): void {
    const { limits, name, passUnknown } = model;
    const { request, body } = this.#parts;
    this.#passUnknown = passUnknown;
    this.#name = name;
    if (request.choices > limits.maxChoices) {
      throw invalidRequest(
        `${name} gives at most ${limits.maxChoices} answers per request. Ask for fewer.`,
        request.pointers.choices,
      );
    }
    if (body.bytes.length > limits.maxBodyBytes) {
      throw invalidRequest(
        `${name} takes requests of at most ${limits.maxBodyBytes} bytes. Send a smaller one.`,
      );
    }
    const tier = request.serviceTier;
    if (tier !== undefined && !isOrdinary(tier) && !limits.serviceTiers.includes(tier)) {
      throw invalidRequest(
        `${name} is not sold in the service tier "${tier}". Leave the tier out.`,
        request.pointers.serviceTier,
      );
    }
    refusePriced(body, model);
    this.#parts.state?.check(model);
  }

  usableRoutes(routes: readonly CompiledRoute[]): readonly CompiledRoute[] {
    return this.#parts.state?.usableRoutes(routes) ?? routes;
  }

  refusal(refused: { status: number; body: string }, { dialect }: Candidate): GatewayError | undefined {
    return this.#parts.state?.refusal(refused, dialect);
  }

  outgoing(candidate: Candidate): OutgoingRequest {
    const { prefix } = addressOf(candidate.provider);
    const { headers } = this.#parts;
    const { path, body, extra } = this.#mirrors(candidate)
      ? this.#mirrored(candidate)
      : this.#translated(candidate);
    const accept = this.streamed ? 'text/event-stream' : 'application/json';
    return {
      method: 'POST',
      path: prefix + path,
      body,
      headers: {
        'content-type': 'application/json',
        ...outgoingHeaders(candidate, headers, accept),
        ...extra,
      },
    };
  }

  async receive(attempt: AnsweredAttempt): Promise<Answer> {
    if (this.streamed) return openStream(attempt, this.#streamOptions(attempt.candidate));
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    const response = decodeWhole(attempt.candidate, bytes);
    const mirrored = this.#mirrors(attempt.candidate);
    attempt.settle();
    const { inbound } = this.#parts.format;
    return wholeAnswer(attempt, {
      contentType: 'application/json',
      bytes: mirrored ? this.#mirroredAnswer(bytes, response, attempt.candidate) : this.#encoded(response),
      tokens: response.tokens,
      dropped: this.#dropped,
      losses: mirrored ? 0 : countLosses(response, inbound.losses),
    });
  }

  #mirroredAnswer(bytes: Buffer, { id }: ChatResponse, candidate: Candidate): Buffer {
    const named = withNames(bytes, this.#mirrorNames(), candidate.dialect.name);
    return this.#parts.state?.answer(named, id, candidate) ?? named;
  }

  #encoded(response: ChatResponse): string {
    const { request, format } = this.#parts;
    const restored = this.#toolNames?.restoredAnswer(response) ?? response;
    return writeJson(format.inbound.encodeResponse({ ...restored, ...this.#ownNames() }, request));
  }

  /** A stored answer has an id under which its client finds the answer again. */
  #mirrorNames(): Partial<AnswerNames> {
    return this.#parts.state?.namesAnswer ? { model: this.#name } : this.#ownNames();
  }

  #ownNames(): AnswerNames {
    return { id: newAnswerId(this.#parts.format.inbound.idPrefix), model: this.#name };
  }

  /**
   * Whether the request passes unchanged. Not if the answer is framed as a JSON array, which only the gateway
   * does, if a seal must be opened, or if the request compacts and the route does not offer compaction.
   */
  #mirrors({ native, route }: Candidate): boolean {
    const { jsonArray, compaction } = this.#parts.request.shape;
    if (!native || jsonArray || (compaction && !route.families.includes('compact'))) return false;
    this.#holdsEnvelope ??= holdsEnvelope(this.#parts.body.bytes);
    return !this.#holdsEnvelope;
  }

  #mirrored({ dialect, route }: Candidate): EncodedRequest {
    const { body, headers, format, state } = this.#parts;
    const streamed = this.streamed;
    const request = mirrored(body, headers, {
      dialect: dialect.name,
      model: route.upstreamModel,
      streamed,
      tables: format.inbound.mirror,
      passUnknown: this.#passUnknown,
      stateEdits: state?.edits(),
    });
    refuseLosses(request.dropped, headers);
    this.#dropped = request.dropped;
    const path = dialect.outbound.pathFor(route.upstreamModel, streamed);
    return { path, body: request.body, extra: request.headers };
  }

  #translated({ dialect, native, route }: Candidate): EncodedRequest {
    const { headers } = this.#parts;
    // An upstream of the client's format would get members that only this format has, known or not.
    const { request, unknown } = native ? this.#knownRequest() : { ...this.#parts, unknown: [] };
    this.#toolNames = new ToolNames(request, dialect.name);
    const encoded = dialect.outbound.encodeRequest(this.#toolNames.sent(request), route.upstreamModel);
    const dropped = [...unknown, ...encoded.dropped];
    refuseLosses(dropped, headers);
    this.#dropped = dropped;
    const members = { ...encoded.body, ...(native && this.#parts.state?.encodedMembers()) };
    return { path: encoded.path, body: writeJson(members), extra: encoded.headers };
  }

  /** The request without the members that its table does not know, and the pointers of those. */
  #knownRequest(): { request: ChatRequest; unknown: string[] } {
    const { body, format, path, request } = this.#parts;
    if (this.#passUnknown || body.findings.unknown.length === 0) return { request, unknown: [] };
    const { value, dropped } = withoutUnknown(body);
    const own = this.#parts.state?.withoutReferences(value) ?? value;
    return { request: format.inbound.decodeRequest(own, path), unknown: dropped };
  }

  #streamOptions(candidate: Candidate): Parameters<typeof openStream>[1] {
    const { request, format, state } = this.#parts;
    const encoder = this.#mirrors(candidate) ? undefined : this.#encoder();
    const names = new StreamNames(candidate.dialect.name, this.#mirrorNames());
    const rename: Rename = (bytes, events) => names.replace(bytes, events);
    const array = request.shape.jsonArray === true;
    const machine = new StreamMachine({
      choices: request.choices,
      decoder: candidate.dialect.outbound.streamDecoder(request.choices),
      dropUsageFrames: candidate.dialect.name === 'openai-chat' && request.shape.usageInStream !== true,
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
      beforeHeaders: (reply) => nameDropped(this.#dropped, reply),
    };
  }

  #encoder(): StreamEncoder {
    const { request, format } = this.#parts;
    const stream = format.inbound.streamEncoder(request);
    const names = this.#ownNames();
    const tools = this.#toolNames;
    return { push: (event) => stream.push(named(tools?.restored(event) ?? event, names)) };
  }
}

interface EncodedRequest {
  path: string;
  body: Buffer | string;
  /** Headers of the upstream's format. */
  extra: Record<string, string>;
}

function decodeWhole({ dialect }: Candidate, bytes: Buffer): ChatResponse {
  try {
    return dialect.outbound.decodeResponse(parseJson(bytes.toString('utf8')));
  } catch (cause) {
    throw asUnreadable(cause);
  }
}
