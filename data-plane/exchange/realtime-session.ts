/**
 * One realtime session: frames both ways under backpressure. Each response of the model is held when it
 * begins and charged before its end is relayed, whoever asked for it.
 */
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import type { Bill, ChargedOutcome } from '../bill.ts';
import type { Cut } from '../cut.ts';
import { NO_TOKENS } from '../dialects/canonical.ts';
import { parseObject } from '../dialects/fields.ts';
import { cleaned, errorEvent, readClientEvent, readServerEvent, refusalEvent } from './realtime-events.ts';
import type { ResponseEnd, ServerEvent } from './realtime-events.ts';
import { Side, frameText } from './realtime-side.ts';

/** A session without a frame of either side ends after this long, in ms. */
export const IDLE_MS = 300_000;
/** No session lasts longer, in ms: that of the original. */
export const SESSION_MS = 3_600_000;
const WATCH_EVERY_MS = 1_000;
/**
 * Transcriptions of what the customer says belong to the price of the response that follows. So many in a row
 * without any response are given; beyond that it is a transcription session. Who leaves with nothing but such
 * ones pays one price for them: else a new session for every ten would cost nothing at all.
 */
const TRANSCRIPTIONS_GIVEN = 10;

export interface SessionParts {
  client: WebSocket;
  upstream: WebSocket;
  upstreamModel: string;
  cut: Cut;
  /** A monotonic clock in ms. */
  now(): number;
  /** Holds the price of one response. Throws `insufficient_funds` and its kin. */
  openBill(): Promise<Bill>;
  /** Whether the node is being stopped. */
  draining(): boolean;
}

interface OpenResponse {
  bill: Bill;
  relayed: boolean;
}

type Item = { text: string } | { closed: number };

/** Resolves when the session is over and all its money is settled. Never rejects. */
export function runSession(parts: SessionParts): Promise<void> {
  return new RealtimeSession(parts).finished;
}

class RealtimeSession {
  readonly #parts: SessionParts;
  readonly #client: Side;
  readonly #upstream: Side;
  readonly #finish = Promise.withResolvers<void>();
  readonly #responses = new Map<string, OpenResponse>();
  readonly #queue: Item[] = [];
  readonly #startedAt: number;
  readonly #timer: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #pumping = false;
  #over = false;
  #transcriptionOnly = false;
  #given = 0;
  /** Whether anything in the session had a price. */
  #hasSold = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#startedAt = parts.now();
    this.#client = new Side(parts.client, parts.now);
    this.#upstream = new Side(parts.upstream, parts.now);
    this.#timer = setInterval(() => this.#watch(), WATCH_EVERY_MS);
    this.#stopListening = parts.cut.onCut((reason) => void this.#end(reason));
    parts.client.on('message', (data, isBinary) => this.#fromClient(data, isBinary));
    // After a frame that cannot be taken, too: the socket itself has said so.
    parts.client.on('error', () => void this.#end(left()));
    parts.client.on('close', () => void this.#end(left()));
    parts.upstream.on('message', (data) => this.#enqueue({ text: frameText(data) }));
    parts.upstream.on('close', (code) => this.#enqueue({ closed: code }));
    this.#upstream.open();
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }

  #fromClient(data: RawData, isBinary: boolean): void {
    if (this.#over) return;
    if (isBinary)
      return void this.#end(new GatewayError('invalid_request', 'Send events as text frames.'), 1003);
    const event = readClientEvent(frameText(data), this.#parts.upstreamModel);
    if ('refusal' in event) this.#client.send(refusalEvent(event.refusal), this.#client);
    else this.#upstream.send(event.text, this.#client);
  }

  #enqueue(item: Item): void {
    this.#queue.push(item);
    if (!this.#pumping) void this.#pump();
  }

  /** One event after the other: what waits for money keeps its place, and the upstream waits with it. */
  async #pump(): Promise<void> {
    this.#pumping = true;
    for (let item = this.#queue.shift(); item && !this.#over; item = this.#queue.shift()) {
      try {
        if ('closed' in item) await this.#upstreamClosed(item.closed);
        else {
          const step = this.#fromUpstream(item.text);
          if (step) await this.#upstream.whilePaused(step);
        }
      } catch (error) {
        await this.#end(asGatewayError(error));
      }
    }
    this.#pumping = false;
  }

  /** A promise only where money is involved: everything else passes at once. */
  #fromUpstream(text: string): Promise<void> | undefined {
    const event = parseObject(text);
    const read = readServerEvent(event);
    if (!event || !read) throw new GatewayError('upstream_failed', 'The model sent something unreadable.');
    if (read.kind === 'dropped') return undefined;
    if (read.kind === 'session') this.#transcriptionOnly = read.transcriptionOnly;
    const paid = this.#pay(read);
    if (paid) return paid.then(() => this.#relay(cleaned(event, text)));
    if (read.kind === 'response-content') this.#noteContent(read.id);
    this.#relay(cleaned(event, text));
    return undefined;
  }

  #pay(event: ServerEvent): Promise<void> | undefined {
    if (event.kind === 'response-created') return this.#hold(event.id);
    if (event.kind === 'response-done') return this.#settle(event);
    if (event.kind !== 'transcribed') return undefined;
    this.#given += 1;
    const isSold = this.#transcriptionOnly || this.#given > TRANSCRIPTIONS_GIVEN;
    return isSold ? this.#chargeTranscription(event.tokens) : undefined;
  }

  async #hold(id: string): Promise<void> {
    this.#given = 0;
    if (this.#responses.has(id)) return;
    const bill = await this.#parts.openBill();
    this.#hasSold = true;
    // The customer may have left while the price was being held.
    if (this.#over) bill.close(left());
    else this.#responses.set(id, { bill, relayed: false });
  }

  async #settle({ id, end, tokens }: { id: string; end: ResponseEnd; tokens: TokenCounts }): Promise<void> {
    const { bill, relayed } = this.#responses.get(id) ?? {
      bill: await this.#parts.openBill(),
      relayed: false,
    };
    this.#responses.delete(id);
    if (end === 'failed') bill.close(new GatewayError('upstream_failed', 'The model could not answer.'));
    else if (end === 'cancelled' && !relayed) bill.close(left());
    else await charge(bill, end === 'delivered' ? 'DELIVERED' : 'CLIENT_LEFT', tokens);
  }

  async #chargeTranscription(tokens: TokenCounts): Promise<void> {
    this.#hasSold = true;
    await charge(await this.#parts.openBill(), 'DELIVERED', tokens);
  }

  #noteContent(id: string): void {
    const response = this.#responses.get(id);
    if (!response || response.relayed) return;
    response.relayed = true;
    response.bill.firstContent();
  }

  #relay(text: string): void {
    if (!this.#over) this.#client.send(text, this.#upstream);
  }

  async #upstreamClosed(code: number): Promise<void> {
    const isOrderly = this.#responses.size === 0 && (code === 1000 || code === 1001 || code >= 3000);
    if (isOrderly) return this.#end(undefined, code);
    return this.#end(new GatewayError('upstream_failed', 'The model broke off the session. Open a new one.'));
  }

  #watch(): void {
    const now = this.#parts.now();
    const lastFrameAt = Math.max(this.#client.lastFrameAt, this.#upstream.lastFrameAt);
    if (this.#parts.draining() && this.#responses.size === 0) return void this.#end(undefined, 1012);
    if (now - this.#startedAt > SESSION_MS) return void this.#end(timeUp('lasted as long as it may'), 1001);
    if (now - lastFrameAt > IDLE_MS) {
      // What it does not take keeps the upstream from saying more: it is the client that is silent.
      const reason = this.#client.isBehind ? left() : timeUp('was silent for too long');
      return void this.#end(reason, 1001);
    }
    for (const side of [this.#client, this.#upstream]) side.checkLife(now);
  }

  /** Settles what is open and closes both sides; the first reason counts. */
  async #end(failure: GatewayError | undefined, code = closeCodeOf(failure)): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#timer);
    this.#stopListening();
    this.#queue.length = 0;
    this.#upstream.close(1000);
    await Promise.all([...this.#responses.values()].map((response) => cutShort(response, failure)));
    this.#responses.clear();
    const isOurs = failure === undefined || failure.status >= 500 || isOperators(failure);
    if (this.#given > 0 && !this.#hasSold && !isOurs)
      await this.#chargeTranscription(NO_TOKENS).catch(() => undefined);
    if (failure && failure.code !== 'client_closed') this.#client.sendLast(errorEvent(failure));
    this.#client.close(code);
    this.#finish.resolve();
  }
}

/** The charge is durable when this resolves; otherwise the price is given back and the failure thrown. */
async function charge(bill: Bill, outcome: ChargedOutcome, tokens: TokenCounts): Promise<void> {
  let failure: unknown;
  try {
    bill.count(tokens, 0);
    await bill.commit(outcome);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    bill.close(failure);
  }
}

/** Charged where the customer ended it after content, free otherwise. */
async function cutShort({ bill, relayed }: OpenResponse, failure: GatewayError | undefined): Promise<void> {
  const reason = failure ?? new GatewayError('upstream_failed', 'The session ended in the middle.');
  await bill.cut(isOwnFault(reason) ? left() : reason, relayed).catch(() => undefined);
  bill.close(reason);
}

/**
 * Whether the session ended by something that the customer sent or asked for: a frame that is no event, a
 * further response without money for it. Else it would be a way to hear a response and not to pay for it.
 */
function isOwnFault({ code, status }: GatewayError): boolean {
  return status < 500 && code !== 'key_disabled' && code !== 'request_timeout';
}

/** Whether the operator stopped the key or its account. */
function isOperators({ code, details }: GatewayError): boolean {
  return code === 'key_disabled' && !details.byOwner;
}

function timeUp(why: string): GatewayError {
  return new GatewayError('request_timeout', `The session ${why}. Open a new one.`);
}

function left(): GatewayError {
  return new GatewayError('client_closed', 'The client closed the session.');
}

/** https://www.iana.org/assignments/websocket */
function closeCodeOf(failure: GatewayError | undefined): number {
  if (!failure) return 1000;
  if (failure.status === 429) return 1013;
  return failure.status < 500 ? 1008 : 1011;
}
