/**
 * Chat in any of the client formats: mirrored to an upstream of the same format, translated to every other.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { DialectName } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import type { SoldModel } from '../config/config.ts';
import { replay } from '../dialects/answer.ts';
import type { ChatRequest, ChatResponse } from '../dialects/canonical.ts';
import { checkConversation } from '../dialects/conversation.ts';
import { lossesOf } from '../dialects/dialect.ts';
import type { Inbound, Losses, RequestPath } from '../dialects/dialect.ts';
import { holdsEnvelope } from '../dialects/seals.ts';
import type { Bill } from '../bill.ts';
import type { Reply } from '../reply.ts';
import { addressOf } from '../upstreams/pools.ts';
import type { Outgoing } from '../upstreams/send.ts';
import { openStream } from './chat-stream.ts';
import type { Answer, Attempt, Candidate, Exchange } from './exchange.ts';
import { nameDropped, refuseLosses } from './dropped.ts';
import { mirrorBody, mirrorHeaders } from './mirror.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import type { RequestBody } from './request-body.ts';
import { parseRequestBody } from './request-body.ts';
import { StreamMachine } from './stream-machine.ts';

/** A whole answer may be this long, in bytes. */
export const ANSWER_BYTES = 64 * 1024 * 1024;
/** Service tiers that never cost the operator more than the flat price foresees. */
const ORDINARY_TIERS: ReadonlySet<string> = new Set(['auto', 'default', 'standard', 'standard_only', 'flex']);

/** How a client comes in: in which format, and whether an upstream can speak it, too. */
export interface ChatDoor {
  inbound: Inbound;
  dialect: DialectName | undefined;
}

/** What came in. */
export interface ChatInput {
  bytes: Buffer;
  path: RequestPath;
  headers: IncomingHttpHeaders;
}

/** Reads a chat request. Throws `invalid_request` naming what is wrong with it. */
export function openChat(door: ChatDoor, { bytes, path, headers }: ChatInput): Exchange {
  return openParsedChat(door, { body: parseRequestBody(bytes), path, headers });
}

/** Like `openChat`, where the body was read already. */
export function openParsedChat(
  door: ChatDoor,
  { body, path, headers }: Omit<ChatInput, 'bytes'> & { body: RequestBody },
): Exchange {
  const request = door.inbound.decodeRequest(body.value, path);
  checkConversation(request);
  return new ChatExchange({ door, body, request, headers });
}

interface ChatParts {
  door: ChatDoor;
  body: RequestBody;
  request: ChatRequest;
  headers: IncomingHttpHeaders;
}

class ChatExchange implements Exchange {
  readonly #parts: ChatParts;
  #dropped: string[] = [];
  #holdsEnvelope: boolean | undefined;

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
    return this.#parts.door.dialect;
  }

  checkLimits({ limits, name }: SoldModel): void {
    const { request, body } = this.#parts;
    if (request.choices > limits.maxChoices) {
      throw tooMuch(
        `${name} gives at most ${limits.maxChoices} answers per request.`,
        request.pointers.choices,
      );
    }
    if (body.bytes.length > limits.maxBodyBytes) {
      throw tooMuch(`${name} takes requests of at most ${limits.maxBodyBytes} bytes.`);
    }
    const tier = request.serviceTier;
    if (tier !== undefined && !ORDINARY_TIERS.has(tier) && !limits.serviceTiers.includes(tier)) {
      throw tooMuch(`${name} is not sold in the service tier "${tier}".`, request.pointers.serviceTier);
    }
  }

  outgoing(candidate: Candidate): Outgoing {
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

  async receive(attempt: Attempt): Promise<Answer> {
    if (this.streamed) return openStream(attempt, this.#streamOptions(attempt.candidate));
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    const response = decodeWhole(attempt.candidate, bytes);
    const mirrored = this.#mirrors(attempt.candidate);
    attempt.settle();
    const { inbound } = this.#parts.door;
    const body = mirrored ? bytes : JSON.stringify(inbound.encodeResponse(response, this.#parts.request));
    return {
      routeId: attempt.candidate.route.id,
      deliver: async (reply, bill) => {
        nameDropped(this.#dropped, reply);
        bill.count(response.tokens, mirrored ? 0 : countLosses(response, inbound.losses));
        await deliverWhole(body, reply, bill);
      },
    };
  }

  /**
   * A stream as one JSON array is our own framing, an envelope holds what only we can open, and a compaction
   * is only asked of upstreams that offer it.
   */
  #mirrors({ native, route }: Candidate): boolean {
    const { jsonArray, compaction } = this.#parts.request.shape;
    if (!native || jsonArray || (compaction && !route.families.includes('compact'))) return false;
    this.#holdsEnvelope ??= holdsEnvelope(this.#parts.body.bytes);
    return !this.#holdsEnvelope;
  }

  #mirrored({ dialect, route }: Candidate): Built {
    const { body, headers } = this.#parts;
    const streamed = this.streamed;
    this.#dropped = [];
    return {
      path: dialect.outbound.pathFor(route.upstreamModel, streamed),
      body: mirrorBody(body, { dialect: dialect.name, model: route.upstreamModel, streamed }),
      extra: mirrorHeaders(headers, dialect.name),
    };
  }

  #translated({ dialect, route }: Candidate): Built {
    const { request, headers } = this.#parts;
    const {
      path,
      body,
      headers: extra,
      dropped,
    } = dialect.outbound.encodeRequest(request, route.upstreamModel);
    refuseLosses(dropped, headers);
    this.#dropped = dropped;
    return { path, body: JSON.stringify(body), extra };
  }

  #streamOptions(candidate: Candidate): Parameters<typeof openStream>[1] {
    const { request, door } = this.#parts;
    const encoder = this.#mirrors(candidate) ? undefined : door.inbound.streamEncoder(request);
    const array = request.shape.jsonArray === true;
    const machine = new StreamMachine({
      choices: request.choices,
      decoder: candidate.dialect.outbound.streamDecoder(request.choices),
      dropUsageFrames: candidate.dialect.name === 'openai-chat' && request.shape.usageInStream !== true,
      ...(encoder ? { encoder: { stream: encoder, losses: door.inbound.losses } } : {}),
    });
    return {
      machine,
      contentType: array ? 'application/json' : 'text/event-stream; charset=utf-8',
      // White space is all that may stand between the items of an array.
      keepAlive: array ? '\n' : door.inbound.keepAlive,
      streamError: (error) =>
        encoder?.push({ type: 'error', error }) ?? door.inbound.encodeStreamError(error),
      beforeHead: (reply) => nameDropped(this.#dropped, reply),
    };
  }
}

interface Built {
  path: string;
  body: Buffer | string;
  extra: Record<string, string>;
}

function decodeWhole({ dialect }: Candidate, bytes: Buffer): ChatResponse {
  try {
    return dialect.outbound.decodeResponse(JSON.parse(bytes.toString('utf8')));
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause;
    throw new GatewayError('upstream_failed', 'The model answered with something unreadable. Try again.', {
      cause,
    });
  }
}

/** The charge is durable before the first byte leaves: a whole answer has no end to hold back. */
async function deliverWhole(body: string | Buffer, reply: Reply, bill: Bill): Promise<void> {
  await bill.commit('DELIVERED');
  reply.whole(200, 'application/json', body);
}

function countLosses(response: ChatResponse, losses: Losses): number {
  let count = 0;
  for (const event of replay(response)) count += lossesOf(event, losses);
  return count;
}

function tooMuch(message: string, parameter?: string): GatewayError {
  return new GatewayError('invalid_request', message, parameter === undefined ? {} : { parameter });
}
