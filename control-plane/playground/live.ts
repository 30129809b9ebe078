/**
 * What of the Playground lives in this process alone: replies being written, and chats that are stored
 * nowhere. Bounded in number and time; nothing of it is ever written down from here.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../errors.ts';
import { LiveReply } from './live-reply.ts';
import type { MessageView } from './live-reply.ts';

/** How long a reply may be read again after its end: enough for a reload. */
const RETAINED_MS = 2 * 60_000;
/** How long an unused chat without text is remembered. */
const CHAT_IDLE_MS = 24 * 60 * 60_000;
/** How long a repeated call is recognised. */
const REPEAT_MS = 10 * 60_000;
const SWEEP_MS = 5_000;
const CHATS_OF_USER_MAX = 20;
const RUNNING_OF_USER_MAX = 4;

/** A chat that has no row: new, temporary, or written while all switches are off. */
export interface LiveChat {
  id: string;
  userId: string;
  title: string;
  modelName: string;
  temporary: boolean;
  createdAt: Date;
  updatedAt: Date;
  /** Whether messages were sent in it that are stored nowhere: then none of it is stored later. */
  begun: boolean;
  /** The last question and its reply, for a reload; dropped soon after the end. */
  messages: MessageView[];
}

interface Call {
  mac: string;
  at: number;
  /** Id of the reply, never its text. */
  replyId: Promise<string>;
}

/** One per process; `close` ends every reply. */
export class Playground {
  readonly #chats = new Map<string, LiveChat>();
  readonly #replies = new Map<string, LiveReply>();
  readonly #calls = new Map<string, Call>();
  readonly #running = new Set<Promise<void>>();
  /** A database session of its own, for what ends after its request. */
  readonly session: () => EntityManager;
  readonly #sweep = setInterval(() => this.#dropOld(), SWEEP_MS).unref();

  constructor(session: () => EntityManager) {
    this.session = session;
  }

  /** Remembers a chat; of too many the one unused for longest is dropped. */
  open(chat: LiveChat): void {
    const own = [...this.#chats.values()].filter((item) => item.userId === chat.userId);
    const oldest = own.toSorted((left, right) => left.updatedAt.getTime() - right.updatedAt.getTime())[0];
    if (own.length >= CHATS_OF_USER_MAX && oldest) this.#chats.delete(oldest.id);
    this.#chats.set(chat.id, chat);
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
    const earlier = this.#calls.get(key);
    if (earlier && earlier.mac !== mac) throw mismatch();
    if (earlier) return { replyId: await earlier.replyId, replayed: true };
    const replyId = work();
    this.#calls.set(key, { mac, at: Date.now(), replyId });
    replyId.catch(() => this.#calls.delete(key));
    return { replyId: await replyId, replayed: false };
  }

  /** Stops and forgets what belongs to these chats at once; without ids, to all chats of the user. */
  forget(userId: string, conversationIds?: readonly string[]): void {
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
    for (const [id, chat] of this.#chats)
      if (chat.updatedAt.getTime() + CHAT_IDLE_MS < now) this.#chats.delete(id);
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
