/**
 * Messages between the instances of the control plane: requests with responses, and one-way messages. They
 * are encrypted and sent by NOTIFY, so that they are in no table, log or backup.
 */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Listener } from '../database/listener.ts';
import { query, sql } from '../database/sql.ts';
import { decryptSecret, encryptSecret } from '../upstreams/stored-secrets.ts';

const CHANNEL = 'gateway_peers';
/** A notification holds less than 8000 bytes: https://www.postgresql.org/docs/current/sql-notify.html */
const PIECE_CHARACTERS = 7_000;
/** Maximum number of pieces of a message, which makes about 28 MB. */
const PIECES_MAX = 4_000;
/**
 * Pieces of an incomplete message are dropped after this time, in ms. Its sender sends all in one
 * transaction.
 */
const COMPLETE_WITHIN_MS = 10_000;
const HEARTBEAT_MS = 2_000;
/** An instance that sent nothing for this long has left, in ms. */
const LEFT_AFTER_MS = 7_000;
/** How long a request waits for responses, in ms. */
const REQUEST_TIMEOUT_MS = 2_000;
/** Recipient of messages to all other instances. */
const EVERYBODY = '*';
const LOCATION = { table: CHANNEL, id: EVERYBODY, field: 'message' };

/** Dependencies of the bus. */
export interface InstanceBusParts {
  databaseUrl: string;
  /** Encrypts the messages; the same for all instances. */
  secretKey: string;
  em(): EntityManager;
  /** Receives errors of sending and receiving, which the bus survives. */
  onTrouble?: (error: unknown) => void;
}

/** Handles a message of the instance `from` and returns the response, undefined for none. */
export type MessageHandler = (body: unknown, from: string) => unknown;

/** The first response to a request, and the instance that sent it. */
export interface InstanceResponse {
  from: string;
  body: unknown;
}

/** Sent between instances of different releases: member names must not change. */
interface Message {
  id: string;
  topic: string;
  body: unknown;
  /** Whether this is a request, which needs a response. */
  asks?: boolean;
  /** On a response: id of the request. */
  re?: string;
}

interface PendingRequest {
  receive(response: InstanceResponse): void;
}

/** The bus of this instance. If it is the only one, requests resolve at once without a response. */
export class InstanceBus {
  /** Id of this instance. */
  readonly id = randomUUID();
  readonly #parts: InstanceBusParts;
  readonly #lastSeenAt = new Map<string, number>();
  readonly #handlers = new Map<string, MessageHandler>();
  readonly #requests = new Map<string, PendingRequest>();
  readonly #pieces = new Map<string, { at: number; texts: string[] }>();
  readonly #leaveListeners = new Set<(id: string) => void>();
  #listener: Listener | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(parts: InstanceBusParts) {
    this.#parts = parts;
  }

  /** Starts to listen and announces this instance. Throws if the database cannot be reached. */
  static async start(parts: InstanceBusParts): Promise<InstanceBus> {
    const bus = new InstanceBus(parts);
    bus.#listener = await Listener.start({
      databaseUrl: parts.databaseUrl,
      channels: [CHANNEL],
      onNotification: (_, payload) => bus.#receive(payload),
      onReconnect: () => void bus.#heartbeat(),
      ...(parts.onTrouble && { onTrouble: parts.onTrouble }),
    });
    bus.#timer = setInterval(() => {
      bus.#dropStale();
      void bus.#heartbeat();
    }, HEARTBEAT_MS).unref();
    await bus.#heartbeat();
    return bus;
  }

  /** Sets the handler of a topic in this instance. */
  handle(topic: string, handler: MessageHandler): void {
    this.#handlers.set(topic, handler);
  }

  /** Calls `listener` with the id of each instance that leaves. */
  onLeave(listener: (id: string) => void): void {
    this.#leaveListeners.add(listener);
  }

  /**
   * Sends a request to all other instances. Resolves with the first response; with undefined once all have
   * responded that they have none, or after two seconds.
   */
  async request(topic: string, body: unknown): Promise<InstanceResponse | undefined> {
    const waitingFor = new Set(this.#lastSeenAt.keys());
    if (waitingFor.size === 0) return undefined;
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<InstanceResponse | undefined>();
    const timeout = setTimeout(() => resolve(undefined), REQUEST_TIMEOUT_MS);
    this.#requests.set(id, {
      receive: (response) => {
        waitingFor.delete(response.from);
        if (response.body !== null && response.body !== undefined) resolve(response);
        else if (waitingFor.size === 0) resolve(undefined);
      },
    });
    await this.#send(EVERYBODY, { id, topic, body, asks: true });
    return promise.finally(() => {
      clearTimeout(timeout);
      this.#requests.delete(id);
    });
  }

  /** Sends a one-way message to one instance or to all others. Resolves when it is sent; never rejects. */
  async send(topic: string, body: unknown, to = EVERYBODY): Promise<void> {
    if (this.#lastSeenAt.size > 0) await this.#send(to, { id: randomUUID(), topic, body });
  }

  /** Tells the other instances that this one leaves, and stops listening. Never rejects. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#notify([`${EVERYBODY} ${this.id} bye 0 0 `]);
    await this.#listener?.stop();
  }

  async #send(to: string, message: Message): Promise<void> {
    const sealed = encryptSecret(this.#parts.secretKey, JSON.stringify(message), LOCATION);
    const count = Math.ceil(sealed.length / PIECE_CHARACTERS);
    if (count > PIECES_MAX)
      return this.#parts.onTrouble?.(
        new Error('A message to another instance is too long; it was not sent.'),
      );
    const pieces = Array.from({ length: count }, (_, at) => {
      const text = sealed.slice(at * PIECE_CHARACTERS, (at + 1) * PIECE_CHARACTERS);
      return `${to} ${this.id} ${message.id} ${at} ${count} ${text}`;
    });
    await this.#notify(pieces);
  }

  #heartbeat(): Promise<void> {
    return this.#notify([`${EVERYBODY} ${this.id} beat 0 0 `]);
  }

  async #notify(pieces: readonly string[]): Promise<void> {
    try {
      await query(
        this.#parts.em(),
        sql`select pg_notify(${CHANNEL}, piece) from unnest(${[...pieces]}::text[]) as piece`,
      );
    } catch (error) {
      this.#parts.onTrouble?.(error);
    }
  }

  #receive(payload: string): void {
    const [to, from = '', id = '', at, count, text = ''] = payload.split(' ');
    if (from === this.id || (to !== EVERYBODY && to !== this.id) || Number(count) > PIECES_MAX) return;
    if (id === 'bye') return this.#leave(from);
    const isNew = !this.#lastSeenAt.has(from);
    this.#lastSeenAt.set(from, performance.now());
    if (isNew) void this.#heartbeat();
    if (id === 'beat') return;
    const pieces = this.#pieces.get(id) ?? { at: performance.now(), texts: [] };
    this.#pieces.set(id, pieces);
    // PostgreSQL delivers the pieces of one transaction in order. Ignore a message whose start was missed.
    if (Number(at) === pieces.texts.length) pieces.texts.push(text);
    if (pieces.texts.length < Number(count)) return;
    this.#pieces.delete(id);
    this.#dispatch(from, pieces.texts.join(''));
  }

  #dispatch(from: string, sealed: string): void {
    try {
      const message = JSON.parse(decryptSecret(this.#parts.secretKey, sealed, LOCATION)) as Message;
      if (message.re !== undefined)
        return this.#requests.get(message.re)?.receive({ from, body: message.body });
      const response = this.#handlers.get(message.topic)?.(message.body, from) ?? null;
      if (message.asks)
        void this.#send(from, { id: randomUUID(), topic: message.topic, body: response, re: message.id });
    } catch (error) {
      // The sender uses another SECRET_KEY or another release, or the handler failed: ignore the message.
      this.#parts.onTrouble?.(error);
    }
  }

  /** Forgets instances that have left, and incomplete messages. */
  #dropStale(): void {
    const now = performance.now();
    for (const [id, at] of this.#lastSeenAt) if (at + LEFT_AFTER_MS < now) this.#leave(id);
    for (const [id, { at }] of this.#pieces) if (at + COMPLETE_WITHIN_MS < now) this.#pieces.delete(id);
  }

  #leave(id: string): void {
    if (!this.#lastSeenAt.delete(id)) return;
    for (const request of this.#requests.values()) request.receive({ from: id, body: null });
    for (const listener of this.#leaveListeners) listener(id);
  }
}
