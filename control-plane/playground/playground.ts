/**
 * The part of the Playground that is held in memory: replies being written, and chats that are not stored. It
 * is limited in number and time. Looks in the other instances for what this one does not have.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { UserFailure } from '../graphql/errors.ts';
import type { ContentKeys } from '../intelligence/content-keys.ts';
import type { InstanceBus } from './instance-bus.ts';
import { RemotePlayground } from './remote-playground.ts';
import type { EarlierSend, LocalPlayground, QuestionAndReply } from './remote-playground.ts';
import type { ReplyEvent, RunningReply } from './running-reply.ts';
import type { UnstoredChat } from './unstored-chat.ts';

/** How long a reply can still be read after its end, for a page that is reloaded. */
const RETAINED_MS = 2 * 60_000;
/** How long an unused chat is kept. */
const CHAT_IDLE_MS = 24 * 60 * 60_000;
/** How long the idempotency key of a send is kept. */
const SEND_KEPT_MS = 10 * 60_000;
/** Interval of the timer that drops old entries. */
const SWEEP_MS = 5_000;
const CHATS_OF_USER_MAX = 20;
const RUNNING_OF_USER_MAX = 4;

/** A send with an idempotency key. */
interface Send {
  /** MAC of the input. */
  mac: string;
  at: number;
  replyId: Promise<string>;
  /** The value of `replyId`, once it is resolved. */
  startedId?: string;
}

type PlaygroundLog = (line: Record<string, unknown>) => void;

/** The Playground of this instance. `close` stops all replies. */
export class Playground implements LocalPlayground {
  readonly #chats = new Map<string, UnstoredChat>();
  readonly #replies = new Map<string, RunningReply>();
  readonly #sends = new Map<string, Send>();
  readonly #running = new Set<Promise<void>>();
  /** A new EntityManager for work that outlives its request. */
  readonly session: () => EntityManager;
  /** Keys under which stored chats are encrypted. */
  readonly keys: ContentKeys;
  /** Receives log lines; without it nothing is logged. */
  readonly log: PlaygroundLog | undefined;
  readonly #sweep = setInterval(() => this.#dropOld(), SWEEP_MS).unref();

  readonly #remote: RemotePlayground | undefined;

  /** Without `bus`, this is the only instance. */
  constructor(
    session: () => EntityManager,
    keys: ContentKeys,
    { bus, log }: { bus?: InstanceBus; log?: PlaygroundLog } = {},
  ) {
    this.session = session;
    this.keys = keys;
    this.log = log;
    this.#remote = bus && new RemotePlayground(bus, this);
  }

  /** Adds a chat. If the user has too many, drops the one that was unused for longest. */
  addChat(chat: UnstoredChat): void {
    const own = [...this.#chats.values()].filter((item) => item.userId === chat.userId);
    const oldest = own.toSorted((left, right) => left.updatedAt.getTime() - right.updatedAt.getTime())[0];
    if (own.length >= CHATS_OF_USER_MAX && oldest) this.#chats.delete(oldest.id);
    this.#chats.set(chat.id, chat);
  }

  /** The user's unstored chat. If another instance has it, it moves to this one. */
  async findChat(userId: string, id: string): Promise<UnstoredChat | undefined> {
    const local = this.localChat(userId, id);
    if (local) return local;
    const moved = await this.#remote?.takeChat(userId, id);
    if (moved) this.addChat(moved);
    return moved;
  }

  releaseChat(userId: string, id: string): UnstoredChat | undefined {
    const chat = this.localChat(userId, id);
    if (chat) this.#chats.delete(id);
    return chat;
  }

  /** The user's unstored chat, if this instance has it. */
  localChat(userId: string, id: string): UnstoredChat | undefined {
    const chat = this.#chats.get(id);
    return chat?.userId === userId ? chat : undefined;
  }

  /** Drops an unstored chat, because it now has a row. */
  dropChat(id: string): void {
    this.#chats.delete(id);
  }

  /** The user's reply, if this instance writes it or wrote it a moment ago. */
  localReply(userId: string, id: string): RunningReply | undefined {
    const reply = this.#replies.get(id);
    return reply?.userId === userId ? reply : undefined;
  }

  /** The user's reply that any instance writes or wrote a moment ago, with its question. */
  async findReply(userId: string, id: string): Promise<QuestionAndReply | undefined> {
    return this.localReply(userId, id) ?? (await this.#remote?.findReply(userId, id));
  }

  /** The events of a reply after `afterSeq`; undefined if no instance has the reply. */
  async follow(userId: string, id: string, afterSeq: number): Promise<AsyncIterable<ReplyEvent> | undefined> {
    return (
      this.localReply(userId, id)?.follow(afterSeq) ?? (await this.#remote?.follow(userId, id, afterSeq))
    );
  }

  /** Stops a reply in any instance. The text so far is kept. */
  async stop(userId: string, id: string): Promise<void> {
    const local = this.localReply(userId, id);
    if (local) local.stop();
    else await this.#remote?.stop(userId, id);
  }

  /** Throws LIMIT_REACHED if too many replies of the user are being written in this instance. */
  checkRunningReplies(userId: string): void {
    const running = [...this.#replies.values()].filter(
      (reply) => reply.userId === userId && reply.endedAt === undefined,
    );
    if (running.length < RUNNING_OF_USER_MAX) return;
    const message = `Only ${RUNNING_OF_USER_MAX} replies can be written at once. Wait for one to end.`;
    throw new UserFailure('LIMIT_REACHED', message);
  }

  /** Keeps the reply, and runs `work`, which writes it. */
  run(reply: RunningReply, work: () => Promise<void>): void {
    this.#replies.set(reply.message.id, reply);
    const running = work().finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /**
   * Executes `work` once per key, and returns the id of its reply; `replayed` if an earlier send with the
   * same key and input created it. A failed send may be repeated. Throws IDEMPOTENCY_MISMATCH for another
   * input.
   */
  async once(
    { key, mac }: { key: string; mac: string },
    work: () => Promise<string>,
  ): Promise<{ replyId: string; replayed: boolean }> {
    const remote = this.#sends.has(key) ? undefined : await this.#remote?.findSend(key);
    const earlier = remote ?? this.#sends.get(key);
    if (earlier && earlier.mac !== mac) throw idempotencyMismatch();
    if (earlier) return { replyId: await earlier.replyId, replayed: true };
    const send: Send = { mac, at: Date.now(), replyId: work() };
    this.#sends.set(key, send);
    send.replyId.then(
      (id) => Object.assign(send, { startedId: id }),
      () => this.#sends.delete(key),
    );
    return { replyId: await send.replyId, replayed: false };
  }

  localSend(key: string): EarlierSend | undefined {
    const send = this.#sends.get(key);
    return send?.startedId === undefined ? undefined : { mac: send.mac, replyId: send.startedId };
  }

  /** Stops and forgets the user's chats with these ids, or all of them, in every instance. */
  async forget(userId: string, conversationIds?: readonly string[]): Promise<void> {
    this.forgetLocal(userId, conversationIds);
    await this.#remote?.forget(userId, conversationIds);
  }

  forgetLocal(userId: string, conversationIds?: readonly string[]): void {
    const isIncluded = (id: string): boolean => conversationIds?.includes(id) ?? true;
    for (const [id, reply] of this.#replies) {
      if (reply.userId !== userId || !isIncluded(reply.message.conversationId)) continue;
      reply.stop();
      reply.forget();
      this.#replies.delete(id);
    }
    for (const [id, chat] of this.#chats)
      if (chat.userId === userId && isIncluded(id)) this.#chats.delete(id);
    for (const key of this.#sends.keys())
      if (conversationIds === undefined && key.startsWith(`${userId} `)) this.#sends.delete(key);
  }

  /** Stops every reply and waits until their ends are stored. */
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
      // The reply of a chat that moved here is written by another instance, so only its copy expires here.
      const isWrittenHere = chat.messages.some((message) => this.#replies.has(message.id));
      if (!isWrittenHere && chat.updatedAt.getTime() + RETAINED_MS < now) chat.messages = [];
    }
    for (const [key, send] of this.#sends) if (send.at + SEND_KEPT_MS < now) this.#sends.delete(key);
  }
}

/** The failure for an idempotency key that was used with another input. */
export function idempotencyMismatch(): UserFailure {
  return new UserFailure(
    'IDEMPOTENCY_MISMATCH',
    'This idempotency key was used with another input. Use a new key.',
    'idempotencyKey',
  );
}
