/**
 * What the processes of the control plane say to each other: sealed, over the database's notifications,
 * which are delivered and never stored in a table, a log or a backup.
 */
import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Listener } from './listener.ts';
import { query, sql } from './sql.ts';
import { lock, unlock } from './upstreams/vault.ts';

const CHANNEL = 'gateway_peers';
/** A notification holds less than 8000 bytes: https://www.postgresql.org/docs/current/sql-notify.html */
const PIECE_CHARACTERS = 7_000;
const PIECES_MAX = 4_000;
/** Pieces of a message come in one transaction; what is not whole by then lost its sender, in ms. */
const WHOLE_WITHIN_MS = 10_000;
const BEAT_MS = 2_000;
/** Whoever was not heard for so long is gone, in ms. */
const GONE_AFTER_MS = 7_000;
/** How long an answer is waited for, in ms. */
const ASK_MS = 2_000;
const EVERYBODY = '*';
const PLACE = { table: CHANNEL, id: EVERYBODY, field: 'message' };

export interface PeersParts {
  databaseUrl: string;
  secretKey: string;
  em(): EntityManager;
  /** Told of failures that heal by themselves. */
  onTrouble?: (error: unknown) => void;
}

/** Takes what a peer says; what it returns is the answer, undefined for none. It was sealed by one of us. */
export type Answerer = (body: unknown, from: string) => unknown;

interface Message {
  id: string;
  topic: string;
  body: unknown;
  /** Whether the sender waits for an answer. */
  asks?: boolean;
  /** The message that this one answers. */
  re?: string;
}

interface Question {
  take(from: string, answer: unknown): void;
}

/** One per process; safe where it is the only one: then nobody is asked. */
export class Peers {
  readonly id = randomUUID();
  readonly #parts: PeersParts;
  readonly #heardAt = new Map<string, number>();
  readonly #answerers = new Map<string, Answerer>();
  readonly #questions = new Map<string, Question>();
  readonly #pieces = new Map<string, { at: number; texts: string[] }>();
  readonly #goneListeners = new Set<(id: string) => void>();
  #listener: Listener | undefined;
  #timer: NodeJS.Timeout | undefined;

  private constructor(parts: PeersParts) {
    this.#parts = parts;
  }

  /** Listens, and makes itself known. Throws when the database cannot be reached. */
  static async start(parts: PeersParts): Promise<Peers> {
    const peers = new Peers(parts);
    peers.#listener = await Listener.start({
      databaseUrl: parts.databaseUrl,
      channels: [CHANNEL],
      onNotice: (_, payload) => peers.#hear(payload),
      onReturn: () => void peers.#beat(),
      ...(parts.onTrouble && { onTrouble: parts.onTrouble }),
    });
    peers.#timer = setInterval(() => {
      peers.#forgetGone();
      void peers.#beat();
    }, BEAT_MS).unref();
    await peers.#beat();
    return peers;
  }

  /** Names who answers a topic here. */
  answer(topic: string, answerer: Answerer): void {
    this.#answerers.set(topic, answerer);
  }

  onGone(listener: (id: string) => void): void {
    this.#goneListeners.add(listener);
  }

  /**
   * Asks all others. The first answer; undefined once all have said that they have none, or after two
   * seconds.
   */
  async ask(topic: string, body: unknown): Promise<{ from: string; answer: unknown } | undefined> {
    const waiting = new Set(this.#heardAt.keys());
    if (waiting.size === 0) return undefined;
    const id = randomUUID();
    const { promise, resolve } = Promise.withResolvers<{ from: string; answer: unknown } | undefined>();
    const late = setTimeout(() => resolve(undefined), ASK_MS);
    this.#questions.set(id, {
      take: (from, answer) => {
        waiting.delete(from);
        if (answer !== null && answer !== undefined) resolve({ from, answer });
        else if (waiting.size === 0) resolve(undefined);
      },
    });
    await this.#send(EVERYBODY, { id, topic, body, asks: true });
    return promise.finally(() => {
      clearTimeout(late);
      this.#questions.delete(id);
    });
  }

  /** Says something to one of the others, or to all. Resolves when it is on its way; never rejects. */
  async tell(topic: string, body: unknown, to = EVERYBODY): Promise<void> {
    if (this.#heardAt.size > 0) await this.#send(to, { id: randomUUID(), topic, body });
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#notify([`${EVERYBODY} ${this.id} bye 0 0 `]);
    await this.#listener?.stop();
  }

  async #send(to: string, message: Message): Promise<void> {
    const sealed = lock(this.#parts.secretKey, JSON.stringify(message), PLACE);
    const count = Math.ceil(sealed.length / PIECE_CHARACTERS);
    if (count > PIECES_MAX) return this.#parts.onTrouble?.(new Error('A message to peers is too long.'));
    const pieces = Array.from({ length: count }, (_, at) => {
      const text = sealed.slice(at * PIECE_CHARACTERS, (at + 1) * PIECE_CHARACTERS);
      return `${to} ${this.id} ${message.id} ${at} ${count} ${text}`;
    });
    await this.#notify(pieces);
  }

  #beat(): Promise<void> {
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

  #hear(payload: string): void {
    const [to, from = '', id = '', at, count, text = ''] = payload.split(' ');
    if (from === this.id || (to !== EVERYBODY && to !== this.id) || Number(count) > PIECES_MAX) return;
    if (id === 'bye') return this.#leave(from);
    const isNew = !this.#heardAt.has(from);
    this.#heardAt.set(from, performance.now());
    if (isNew) void this.#beat();
    if (id === 'beat') return;
    const pieces = this.#pieces.get(id) ?? { at: performance.now(), texts: [] };
    this.#pieces.set(id, pieces);
    // In one transaction they come in order; a piece of which the first were missed belongs to nothing.
    if (Number(at) === pieces.texts.length) pieces.texts.push(text);
    if (pieces.texts.length < Number(count)) return;
    this.#pieces.delete(id);
    this.#take(from, pieces.texts.join(''));
  }

  #take(from: string, sealed: string): void {
    try {
      const message = JSON.parse(unlock(this.#parts.secretKey, sealed, PLACE)) as Message;
      if (message.re !== undefined) return this.#questions.get(message.re)?.take(from, message.body);
      const answer = this.#answerers.get(message.topic)?.(message.body, from) ?? null;
      if (message.asks)
        void this.#send(from, { id: randomUUID(), topic: message.topic, body: answer, re: message.id });
    } catch (error) {
      // Sealed under another SECRET_KEY, or by another release: it concerns nobody here.
      this.#parts.onTrouble?.(error);
    }
  }

  #forgetGone(): void {
    const now = performance.now();
    for (const [id, at] of this.#heardAt) if (at + GONE_AFTER_MS < now) this.#leave(id);
    for (const [id, { at }] of this.#pieces) if (at + WHOLE_WITHIN_MS < now) this.#pieces.delete(id);
  }

  #leave(id: string): void {
    if (!this.#heardAt.delete(id)) return;
    for (const question of this.#questions.values()) question.take(id, null);
    for (const listener of this.#goneListeners) listener(id);
  }
}
