/**
 * Everything but chat: a request goes to an upstream of its own format with nothing changed but the model's
 * name, and the answer comes back as it is, whole, as events, or as audio while it is being made.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { FAMILY_PROTOCOLS } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import type { SoldModel } from '../config/config.ts';
import { addressOf } from '../upstreams/pools.ts';
import type { Outgoing, UpstreamAnswer } from '../upstreams/send.ts';
import { openStream } from './chat-stream.ts';
import type { StreamOptions } from './chat-stream.ts';
import type { Answer, Attempt, Candidate, Exchange } from './exchange.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import { AudioMachine, EventMachine, checkWhole } from './relay-answer.ts';
import type { RelayKind, Wants } from './relay-kinds.ts';

/** A whole answer may be this long, in bytes: pictures travel inside as base64. */
const ANSWER_BYTES = 64 * 1024 * 1024;
/**
 * Audio whose announced length is at most this is sent whole, in bytes: then its failure can still be
 * told.
 */
const WHOLE_AUDIO_BYTES = 64 * 1024;
const KEEP_ALIVE = ': keep-alive\n\n';

/** What a request carries to an upstream. */
export interface Payload {
  /** Size of what the client sent, in bytes. */
  readonly size: number;
  readonly contentType: string;
  /** The body for an upstream that knows the model by this name; may be asked once for each attempt. */
  renamed(model: string): { body: Outgoing['body']; size: number };
}

export interface RelayParts {
  kind: RelayKind;
  wants: Wants;
  payload: Payload;
  headers: IncomingHttpHeaders;
  /** The bytes with which a streamed answer breaks off, in the client's format. */
  streamError: StreamOptions['streamError'];
}

/** The exchange for a request that was read. */
export function openRelay(parts: RelayParts): Exchange {
  return new RelayExchange(parts);
}

class RelayExchange implements Exchange {
  readonly preferred = 'openai-chat';
  readonly #parts: RelayParts;

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  get capable() {
    return FAMILY_PROTOCOLS[this.#parts.kind.family];
  }
  get model(): string {
    return this.#parts.wants.model;
  }
  get streamed(): boolean {
    return this.#parts.wants.streamed;
  }

  checkLimits(model: SoldModel): void {
    checkWants(this.#parts.wants, this.#parts.payload.size, model);
  }

  outgoing(candidate: Candidate): Outgoing {
    const { kind, payload, headers } = this.#parts;
    const { body, size } = payload.renamed(candidate.route.upstreamModel);
    return {
      method: 'POST',
      path: addressOf(candidate.provider).prefix + kind.path,
      body,
      headers: {
        'content-type': payload.contentType,
        'content-length': String(size),
        ...outgoingHeaders(candidate, headers, this.#accept()),
      },
    };
  }

  async receive(attempt: Attempt): Promise<Answer> {
    const contentType = contentTypeOf(attempt.answer);
    if (contentType.startsWith('text/event-stream')) return openStream(attempt, this.#events());
    if (this.#parts.kind.answer === 'audio' && isLongAudio(attempt.answer, contentType))
      return openStream(attempt, audio(contentType));
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    const tokens = checkWhole(this.#parts.kind.answer, contentType, bytes);
    attempt.settle();
    return wholeAnswer(attempt, { contentType, bytes, tokens });
  }

  #accept(): string {
    if (this.streamed) return 'text/event-stream';
    return this.#parts.kind.answer === 'json' ? 'application/json' : '*/*';
  }

  #events(): StreamOptions {
    const { kind, wants, streamError } = this.#parts;
    return {
      machine: new EventMachine({ ends: kind.ends, answers: wants.choices?.count ?? 1 }),
      contentType: 'text/event-stream; charset=utf-8',
      keepAlive: KEEP_ALIVE,
      streamError,
      beforeHead: () => undefined,
    };
  }
}

/** Throws `invalid_request` where a request wants more than one flat price of the model buys. */
export function checkWants({ inputs, choices }: Wants, size: number, { name, limits }: SoldModel): void {
  if (inputs && inputs.count > limits.maxInputs)
    throw tooMuch(`${name} takes at most ${limits.maxInputs} inputs per request.`, inputs.parameter);
  if (choices && choices.count > limits.maxChoices)
    throw tooMuch(`${name} gives at most ${limits.maxChoices} answers per request.`, choices.parameter);
  if (size > limits.maxBodyBytes)
    throw tooMuch(`${name} takes requests of at most ${limits.maxBodyBytes} bytes.`);
}

/** An answer that is there already: charged, then sent. */
export function wholeAnswer(
  { candidate }: Attempt,
  { contentType, bytes, tokens }: { contentType: string; bytes: Buffer | string; tokens: TokenCounts },
): Answer {
  return {
    routeId: candidate.route.id,
    deliver: async (reply, bill) => {
      bill.count(tokens, 0);
      await bill.commit('DELIVERED');
      reply.whole(200, contentType, bytes);
    },
  };
}

/** A media type as the upstream says it; what does not look like one is not passed on. */
function contentTypeOf({ headers }: UpstreamAnswer): string {
  const value = headers['content-type'];
  return typeof value === 'string' && /^[\w.+-]+\/[\w.+-]+(?:; ?[\w-]+="?[\w.+-]+"?)*$/.test(value)
    ? value.toLowerCase()
    : 'application/octet-stream';
}

function isLongAudio({ headers }: UpstreamAnswer, contentType: string): boolean {
  if (contentType.startsWith('application/json') || contentType.startsWith('text/')) return false;
  const length = headers['content-length'];
  return typeof length !== 'string' || Number(length) > WHOLE_AUDIO_BYTES;
}

function audio(contentType: string): StreamOptions {
  return {
    machine: new AudioMachine(),
    contentType,
    keepAlive: '',
    streamError: () => undefined,
    beforeHead: () => undefined,
  };
}

function tooMuch(message: string, parameter?: string): GatewayError {
  return new GatewayError('invalid_request', message, parameter === undefined ? {} : { parameter });
}
