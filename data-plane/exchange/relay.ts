/**
 * Relays the families beside chat: the model's name changes in the request, what its table does not know is
 * left out, and the answer passes unchanged, whole, as events, or as streamed audio.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { FAMILY_PROTOCOLS } from '@gateway/shared/catalog';
import { invalidRequest } from '../call/refusals.ts';
import type { SoldModel } from '../config/config.ts';
import { pointerOf } from '../dialects/member-table.ts';
import type { Findings, Steps } from '../dialects/member-table.ts';
import type { AnsweredAttempt, Candidate } from '../upstreams/attempt.ts';
import { addressOf } from '../upstreams/connections.ts';
import type { OutgoingRequest, UpstreamAnswer } from '../upstreams/send.ts';
import { withNames } from './answer-names.ts';
import { refuseLosses } from './dropped.ts';
import { refusePriced, refuseStored, unknownOf } from './mirror.ts';
import { openStream } from './stream-delivery.ts';
import type { StreamOptions } from './stream-delivery.ts';
import type { Answer, Exchange } from './exchange.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import { AudioMachine, EventMachine, checkWhole } from './relay-answer.ts';
import type { RelayKind, RelayRequest } from './relay-kinds.ts';
import { wholeAnswer } from './whole-answer.ts';

/** Maximum size of a non-streamed answer, in bytes: pictures are sent inside as base64. */
const ANSWER_BYTES = 64 * 1024 * 1024;
/** Audio up to this `content-length` is sent whole, in bytes, so that a failure is still an error answer. */
const WHOLE_AUDIO_BYTES = 64 * 1024;
const KEEP_ALIVE = ': keep-alive\n\n';

/** The body of a relayed request. */
export interface Payload {
  /** Size of the client's body, in bytes. */
  readonly size: number;
  readonly contentType: string;
  /** The verdict of the kind's table on the members of the body. */
  readonly findings: Findings;
  /**
   * The body with the upstream's name of the model, and without these members; called once for each attempt.
   */
  withModel(model: string, removals: readonly Steps[]): { body: OutgoingRequest['body']; size: number };
}

export interface RelayParts {
  kind: RelayKind;
  request: RelayRequest;
  payload: Payload;
  headers: IncomingHttpHeaders;
  /** The last bytes of a streamed answer that fails, in the client's format. */
  streamError: StreamOptions['streamError'];
}

/** The exchange for a request that was read. Throws `invalid_request` if it names a stored object. */
export function relayExchange(parts: RelayParts): Exchange {
  refuseStored(parts.payload);
  return new RelayExchange(parts);
}

class RelayExchange implements Exchange {
  readonly preferred = 'openai-chat';
  readonly #parts: RelayParts;
  /** The catalog's name of the model, for the answer. */
  #name = '';
  #passUnknown = false;
  #dropped: string[] = [];

  constructor(parts: RelayParts) {
    this.#parts = parts;
  }

  get capable() {
    return FAMILY_PROTOCOLS[this.#parts.kind.family];
  }
  get model(): string {
    return this.#parts.request.model;
  }
  get streamed(): boolean {
    return this.#parts.request.streamed;
  }

  checkLimits(model: SoldModel): void {
    this.#name = model.name;
    this.#passUnknown = model.passUnknown;
    checkModelLimits(this.#parts.request, this.#parts.payload.size, model);
    refusePriced(this.#parts.payload, model);
  }

  outgoing(candidate: Candidate): OutgoingRequest {
    const { kind, payload, headers } = this.#parts;
    const removals = this.#passUnknown ? [] : unknownOf(payload);
    this.#dropped = removals.map(pointerOf);
    refuseLosses(this.#dropped, headers);
    const { body, size } = payload.withModel(candidate.route.upstreamModel, removals);
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

  async receive(attempt: AnsweredAttempt): Promise<Answer> {
    const contentType = contentTypeOf(attempt.answer);
    if (contentType.startsWith('text/event-stream')) return openStream(attempt, this.#events());
    if (this.#parts.kind.answer === 'audio' && isLongAudio(attempt.answer, contentType))
      return openStream(attempt, this.#audio(contentType));
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    const tokens = checkWhole(this.#parts.kind.answer, contentType, bytes);
    attempt.settle();
    const isJson = contentType.startsWith('application/json');
    return wholeAnswer(attempt, {
      contentType,
      bytes: isJson ? withNames({ bytes }, { model: this.#name }) : bytes,
      tokens,
      dropped: this.#dropped,
    });
  }

  #accept(): string {
    if (this.streamed) return 'text/event-stream';
    return this.#parts.kind.answer === 'json' ? 'application/json' : '*/*';
  }

  #events(): StreamOptions {
    const { kind, request, streamError } = this.#parts;
    return {
      machine: new EventMachine({ endEvents: kind.endEvents, answers: request.choices?.count ?? 1 }),
      contentType: 'text/event-stream; charset=utf-8',
      keepAlive: KEEP_ALIVE,
      streamError,
      dropped: this.#dropped,
    };
  }

  #audio(contentType: string): StreamOptions {
    return {
      machine: new AudioMachine(),
      contentType,
      keepAlive: '',
      streamError: () => undefined,
      dropped: this.#dropped,
    };
  }
}

/** Throws `invalid_request` if a request asks for more than one flat price of the model includes. */
export function checkModelLimits(
  { inputs, choices }: RelayRequest,
  sizeBytes: number,
  { name, limits }: SoldModel,
): void {
  if (inputs && inputs.count > limits.maxInputs)
    throw invalidRequest(
      `${name} takes at most ${limits.maxInputs} inputs per request. Send fewer.`,
      inputs.parameter,
    );
  if (choices && choices.count > limits.maxChoices)
    throw invalidRequest(
      `${name} gives at most ${limits.maxChoices} answers per request. Ask for fewer.`,
      choices.parameter,
    );
  if (sizeBytes > limits.maxBodyBytes)
    throw invalidRequest(
      `${name} takes requests of at most ${limits.maxBodyBytes} bytes. Send a smaller one.`,
    );
}

/** The upstream's media type; `application/octet-stream` if its header does not look like one. */
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
