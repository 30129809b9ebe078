/**
 * What of the Playground lives in this process alone: replies being written, and chats that are stored
 * nowhere. Bounded in number and time; nothing of it is ever written down from here.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import type { Peers } from '../peers.ts';
import { Elsewhere } from './elsewhere.ts';
import type { Exchange, Here } from './elsewhere.ts';
import type { LiveChat } from './live-chat.ts';
import type { LiveReply, ReplyEvent } from './live-reply.ts';

/** How long a reply may be read again after its end: enough for a reload. */
const RETAINED_MS = 2 * 60_000;
/** How long an unused chat without text is remembered. */
const CHAT_IDLE_MS = 24 * 60 * 60_000;
/** How long a repeated call is recognised. */
const REPEAT_MS = 10 * 60_000;
const SWEEP_MS = 5_000;
const CHATS_OF_USER_MAX = 20;
const RUNNING_OF_USER_MAX = 4;

interface Call {
  mac: string;
  at: number;
  /** Id of the reply, never its text. */
  replyId: Promise<string>;
  /** The same, once it is known. */
  begunId?: string;
}

/** One per process; `close` ends every reply. */
export class Playground implements Here {
  readonly #chats = new Map<string, LiveChat>();
  readonly #replies = new Map<string, LiveReply>();
  readonly #calls = new Map<string, Call>();
  readonly #running = new Set<Promise<void>>();
  /** A database session of its own, for what ends after its request. */
  readonly session: () => EntityManager;
  readonly #sweep = setInterval(() => this.#dropOld(), SWEEP_MS).unref();

  readonly #elsewhere: Elsewhere | undefined;

  /** `peers`: the other processes, which may have what is not here; without them this is the only one. */
  constructor(session: () => EntityManager, peers?: Peers) {
    this.session = session;
    this.#elsewhere = peers && new Elsewhere(peers, this);
  }

  /** Remembers a chat; of too many the one unused for longest is dropped. */
  open(chat: LiveChat): void {
    const own = [...this.#chats.values()].filter((item) => item.userId === chat.userId);
    const oldest = own.toSorted((left, right) => left.updatedAt.getTime() - right.updatedAt.getTime())[0];
    if (own.length >= CHATS_OF_USER_MAX && oldest) this.#chats.delete(oldest.id);
    this.#chats.set(chat.id, chat);
  }

  /** A chat without a row; where another process has it, it comes over. */
  async findChat(userId: string, id: string): Promise<LiveChat | undefined> {
    const here = this.chat(userId, id);
    if (here) return here;
    const moved = await this.#elsewhere?.chat(userId, id);
    if (moved) this.open(moved);
    return moved;
  }

  handOver(userId: string, id: string): LiveChat | undefined {
    const chat = this.chat(userId, id);
    if (chat) this.#chats.delete(id);
    return chat;
  }

  chat(userId: string, id: string): LiveChat | undefined {
    const chat = this.#chats.get(id);
    return chat?.userId === userId ? chat : undefined;
  }

  /** The chat has a row from now on. */
  nowStored(id: string): void {
    this.#chats.delete(id);
  }

  reply(userId: string, id: string): LiveReply | undefined {
    const reply = this.#replies.get(id);
    return reply?.userId === userId ? reply : undefined;
  }

  /** A reply that is written in any process, or was a moment ago, with its question. */
  async findReply(userId: string, id: string): Promise<Exchange | undefined> {
    return this.reply(userId, id) ?? (await this.#elsewhere?.reply(userId, id));
  }

  /** The events of such a reply; undefined where no process has it. */
  async follow(userId: string, id: string, afterSeq: number): Promise<AsyncIterable<ReplyEvent> | undefined> {
    return this.reply(userId, id)?.follow(afterSeq) ?? (await this.#elsewhere?.follow(userId, id, afterSeq));
  }

  /** Stops such a reply; what was written stays. */
  async stop(userId: string, id: string): Promise<void> {
    const here = this.reply(userId, id);
    if (here) here.stop();
    else await this.#elsewhere?.stop(userId, id);
  }

  /** Throws LIMIT_REACHED where the user has too many replies being written. */
  checkRoom(userId: string): void {
    const running = [...this.#replies.values()].filter(
      (reply) => reply.userId === userId && reply.endedAt === undefined,
    );
    if (running.length < RUNNING_OF_USER_MAX) return;
    throw new UserFailure('LIMIT_REACHED', `At most ${RUNNING_OF_USER_MAX} replies are written at once.`);
  }

  /** Holds the reply while `work` writes it. */
  run(reply: LiveReply, work: () => Promise<void>): void {
    this.#replies.set(reply.message.id, reply);
    const running = work().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /**
   * The reply's id of an equal call of the last minutes, or that of `work`. Throws IDEMPOTENCY_MISMATCH where
   * the key came with another input; a call that failed may be repeated.
   */
  async once(
    { key, mac }: { key: string; mac: string },
    work: () => Promise<string>,
  ): Promise<{ replyId: string; replayed: boolean }> {
    const there = this.#calls.has(key) ? undefined : await this.#elsewhere?.call(key);
    const earlier = there ?? this.#calls.get(key);
    if (earlier && earlier.mac !== mac) throw mismatch();
    if (earlier) return { replyId: await earlier.replyId, replayed: true };
    const call: Call = { mac, at: Date.now(), replyId: work() };
    this.#calls.set(key, call);
    call.replyId.then(
      (id) => Object.assign(call, { begunId: id }),
      () => this.#calls.delete(key),
    );
    return { replyId: await call.replyId, replayed: false };
  }

  callHere(key: string): { mac: string; replyId: string } | undefined {
    const call = this.#calls.get(key);
    return call?.begunId === undefined ? undefined : { mac: call.mac, replyId: call.begunId };
  }

  /**
   * Stops and forgets what belongs to these chats in every process; without ids, to all chats of the user.
   */
  async forget(userId: string, conversationIds?: readonly string[]): Promise<void> {
    this.forgetHere(userId, conversationIds);
    await this.#elsewhere?.forget(userId, conversationIds);
  }

  forgetHere(userId: string, conversationIds?: readonly string[]): void {
    const concerns = (id: string): boolean => conversationIds?.includes(id) ?? true;
    for (const [id, reply] of this.#replies) {
      if (reply.userId !== userId || !concerns(reply.message.conversationId)) continue;
      reply.stop();
      reply.forget();
      this.#replies.delete(id);
    }
    for (const [id, chat] of this.#chats) if (chat.userId === userId && concerns(id)) this.#chats.delete(id);
    for (const key of this.#calls.keys())
      if (conversationIds === undefined && key.startsWith(`${userId} `)) this.#calls.delete(key);
  }

  /** Ends every reply, and returns when all are written off. */
  async close(): Promise<void> {
    clearInterval(this.#sweep);
    for (const reply of this.#replies.values()) reply.stop();
    await Promise.allSettled(this.#running);
  }

  #dropOld(now = Date.now()): void {
    for (const [id, reply] of this.#replies) {
      if (reply.endedAt === undefined || reply.endedAt + RETAINED_MS > now) continue;
      this.#replies.delete(id);
      const chat = this.#chats.get(reply.message.conversationId);
      if (chat?.messages.some((message) => message.id === id)) chat.messages = [];
    }
    for (const [id, chat] of this.#chats) {
      if (chat.updatedAt.getTime() + CHAT_IDLE_MS < now) this.#chats.delete(id);
      // Of a chat that came over, the reply is dropped where it was written.
      const isOurs = chat.messages.some((message) => this.#replies.has(message.id));
      if (!isOurs && chat.updatedAt.getTime() + RETAINED_MS < now) chat.messages = [];
    }
    for (const [key, call] of this.#calls) if (call.at + REPEAT_MS < now) this.#calls.delete(key);
  }
}

/** The refusal of a key that came with another input. */
export function mismatch(): UserFailure {
  return new UserFailure(
    'IDEMPOTENCY_MISMATCH',
    'This idempotency key was used with another input.',
    'idempotencyKey',
  );
}
