/**
 * Runs one realtime session: relays frames in both directions under backpressure. For each response of the
 * model the price is held when the response begins, and charged before its end is relayed.
 */
import { WebSocket } from 'ws';
import type { RawData } from 'ws';
import { GatewayError, asGatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import type { Bill, ChargedOutcome } from '../bill.ts';
import type { Cut, CutListener } from '../call/cut.ts';
import { NO_TOKENS } from '../dialects/canonical.ts';
import { parseObject } from '../dialects/fields.ts';
import { forwardedEvent, errorEvent, readClientEvent, readServerEvent, refusalEvent } from './events.ts';
import type { ModelNames, ResponseEnd, ServerEvent } from './events.ts';
import { Side, frameText } from './side.ts';

/** Time without a frame of either side after which a session ends, in ms. */
export const IDLE_MS = 300_000;
/** Maximum length of a session, in ms, as at OpenAI. */
export const SESSION_MS = 3_600_000;
/** Interval of the checks for timeouts and shutdown, in ms. */
const CHECK_EVERY_MS = 1_000;
/**
 * Transcriptions of the customer's speech are included in the price of the next response. After this many
 * in a row without a response, each further one is charged. A session that ends with nothing but included
 * transcriptions is charged one price; otherwise ten of them in each session would be free.
 */
const TRANSCRIPTIONS_INCLUDED = 10;

interface SessionParts {
  client: WebSocket;
  upstream: WebSocket;
  models: ModelNames;
  cut: Cut;
  /** A monotonic clock in ms. */
  now(): number;
  /** Holds the price of one response. Throws the refusals of `openBill`. */
  openBill(): Promise<Bill>;
  /** Whether the node shuts down. */
  draining(): boolean;
}

interface OpenResponse {
  bill: Bill;
  /** Whether content was relayed. */
  relayed: boolean;
}

/** An event of the upstream, or the close code of its socket. */
type Item = { text: string } | { closed: number };

/** Resolves when the session has ended and every response is charged or released. Never rejects. */
export function runSession(parts: SessionParts): Promise<void> {
  return new RealtimeSession(parts).finished;
}

class RealtimeSession implements CutListener {
  readonly #parts: SessionParts;
  readonly #client: Side;
  readonly #upstream: Side;
  readonly #finish = Promise.withResolvers<void>();
  readonly #responses = new Map<string, OpenResponse>();
  readonly #queue: Item[] = [];
  readonly #startedAt: number;
  readonly #timer: NodeJS.Timeout;
  #processing = false;
  #ended = false;
  #transcriptionOnly = false;
  /** Transcriptions since the last response. */
  #transcriptions = 0;
  /** Whether a price was held in this session. */
  #hasSold = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#startedAt = parts.now();
    this.#client = new Side(parts.client, parts.now);
    this.#upstream = new Side(parts.upstream, parts.now);
    this.#timer = setInterval(() => this.#check(), CHECK_EVERY_MS);
    parts.cut.onCut(this);
    parts.client.on('message', (data, isBinary) => this.#fromClient(data, isBinary));
    // Also emitted after a refused frame, for which the socket has already sent the error event.
    parts.client.on('error', () => void this.#end(left()));
    parts.client.on('close', () => void this.#end(left()));
    parts.upstream.on('message', (data) => this.#enqueue({ text: frameText(data) }));
    parts.upstream.on('close', (code) => this.#enqueue({ closed: code }));
    this.#upstream.open();
  }

  get finished(): Promise<void> {
    return this.#finish.promise;
  }

  abort(reason: GatewayError): void {
    void this.#end(reason);
  }

  #fromClient(data: RawData, isBinary: boolean): void {
    if (this.#ended) return;
    if (isBinary)
      return void this.#end(new GatewayError('invalid_request', 'Send events as text frames.'), 1003);
    const event = readClientEvent(frameText(data), this.#parts.models.upstream);
    if ('refusal' in event) this.#client.send(refusalEvent(event.refusal), this.#client);
    else this.#upstream.send(event.text, this.#client);
  }

  #enqueue(item: Item): void {
    this.#queue.push(item);
    if (!this.#processing) void this.#processQueue();
  }

  /** Handles one event after the other. While an event waits for a hold or charge, the upstream is paused. */
  async #processQueue(): Promise<void> {
    this.#processing = true;
    for (let item = this.#queue.shift(); item && !this.#ended; item = this.#queue.shift()) {
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
    this.#processing = false;
  }

  /** Relays an event. Returns a promise only if the event must wait for a hold or charge. */
  #fromUpstream(text: string): Promise<void> | undefined {
    const event = parseObject(text);
    const read = readServerEvent(event);
    if (!event || !read)
      throw new GatewayError('upstream_failed', 'The upstream sent an event that cannot be read. Try again.');
    if (read.kind === 'withheld') return undefined;
    if (read.kind === 'session') this.#transcriptionOnly = read.transcriptionOnly;
    const billed = this.#bill(read);
    if (billed) return billed.then(() => this.#relay(forwardedEvent(event, text, this.#parts.models)));
    if (read.kind === 'response-content') this.#noteContent(read.id);
    this.#relay(forwardedEvent(event, text, this.#parts.models));
    return undefined;
  }

  /** Holds or charges what this event costs; undefined if it costs nothing. */
  #bill(event: ServerEvent): Promise<void> | undefined {
    if (event.kind === 'response-created') return this.#hold(event.id);
    if (event.kind === 'response-done') return this.#settle(event);
    if (event.kind !== 'transcribed') return undefined;
    this.#transcriptions += 1;
    const isSold = this.#transcriptionOnly || this.#transcriptions > TRANSCRIPTIONS_INCLUDED;
    return isSold ? this.#chargeTranscription(event.tokens) : undefined;
  }

  async #hold(id: string): Promise<void> {
    this.#transcriptions = 0;
    if (this.#responses.has(id)) return;
    const bill = await this.#parts.openBill();
    this.#hasSold = true;
    // The session may have ended while the price was being held.
    if (this.#ended) bill.close(left());
    else this.#responses.set(id, { bill, relayed: false });
  }

  async #settle({ id, end, tokens }: { id: string; end: ResponseEnd; tokens: TokenCounts }): Promise<void> {
    const { bill, relayed } = this.#responses.get(id) ?? {
      bill: await this.#parts.openBill(),
      relayed: false,
    };
    this.#responses.delete(id);
    if (end === 'failed')
      bill.close(new GatewayError('upstream_failed', 'The upstream could not answer. Try again.'));
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
    if (!this.#ended) this.#client.send(text, this.#upstream);
  }

  async #upstreamClosed(code: number): Promise<void> {
    const isOrderly = this.#responses.size === 0 && (code === 1000 || code === 1001 || code >= 3000);
    if (isOrderly) return this.#end(undefined, code);
    return this.#end(
      new GatewayError('upstream_failed', 'The upstream closed the session unexpectedly. Open a new one.'),
    );
  }

  /** Ends the session if the node shuts down or time is up, and pings both sides. */
  #check(): void {
    const now = this.#parts.now();
    const lastFrameAt = Math.max(this.#client.lastFrameAt, this.#upstream.lastFrameAt);
    if (this.#parts.draining() && this.#responses.size === 0) return void this.#end(undefined, 1012);
    if (now - this.#startedAt > SESSION_MS) return void this.#end(timeUp('reached its maximum length'), 1001);
    if (now - lastFrameAt > IDLE_MS) {
      // A client that does not read pauses the upstream, so that the silence is the client's.
      const reason = this.#client.isBehind ? left() : timeUp('was silent for too long');
      return void this.#end(reason, 1001);
    }
    for (const side of [this.#client, this.#upstream]) side.checkLife(now);
  }

  /** Charges or releases every open response, and closes both sides. Only the first call counts. */
  async #end(failure: GatewayError | undefined, code = closeCodeOf(failure)): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#timer);
    this.#parts.cut.offCut(this);
    this.#queue.length = 0;
    this.#upstream.close(1000);
    await Promise.all([...this.#responses.values()].map((response) => endUnfinished(response, failure)));
    this.#responses.clear();
    const isOurs = failure === undefined || failure.status >= 500 || isStoppedByOperator(failure);
    if (this.#transcriptions > 0 && !this.#hasSold && !isOurs)
      await this.#chargeTranscription(NO_TOKENS).catch(() => undefined);
    if (failure && failure.code !== 'client_closed') this.#client.sendLast(errorEvent(failure));
    this.#client.close(code);
    this.#finish.resolve();
  }
}

/** Resolves when the charge is durable. Otherwise releases the price and throws the failure. */
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

/** Ends an unfinished response: charged if the customer ended the session after content, else free. */
async function endUnfinished(
  { bill, relayed }: OpenResponse,
  failure: GatewayError | undefined,
): Promise<void> {
  const reason =
    failure ?? new GatewayError('upstream_failed', 'The session ended before the response. Try again.');
  await bill.cut(isCausedByCustomer(reason) ? left() : reason, relayed).catch(() => undefined);
  bill.close(reason);
}

/**
 * Whether the customer caused the end of the session: by an invalid frame, or by a further response that
 * cannot be paid. Otherwise a customer could end the session on purpose to get a response for free.
 */
function isCausedByCustomer({ code, status }: GatewayError): boolean {
  return status < 500 && code !== 'key_disabled' && code !== 'request_timeout';
}

/** Whether the operator stopped the key or its account. */
function isStoppedByOperator({ code, details }: GatewayError): boolean {
  return code === 'key_disabled' && !details.byOwner;
}

function timeUp(why: string): GatewayError {
  return new GatewayError('request_timeout', `The session ${why}. Open a new one.`);
}

function left(): GatewayError {
  return new GatewayError('client_closed', 'The client closed the session.');
}

/** The close code for the client: https://www.iana.org/assignments/websocket */
function closeCodeOf(failure: GatewayError | undefined): number {
  if (!failure) return 1000;
  if (failure.status === 429) return 1013;
  return failure.status < 500 ? 1008 : 1011;
}
