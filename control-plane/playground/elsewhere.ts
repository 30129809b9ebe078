/**
 * What of the Playground lives in other processes of the control plane. A chat without a row moves to the
 * process that is asked for it; a reply stays where it is written and is followed from there.
 */
import { randomUUID } from 'node:crypto';
import { Repeater } from '@graphql-yoga/subscription';
import type { Peers } from '../peers.ts';
import { arrivedChat, arrivedMessage } from './live-chat.ts';
import type { LiveChat } from './live-chat.ts';
import type { LiveReply, MessageView, ReplyEvent } from './live-reply.ts';

/** What this process has, for the others. */
export interface Here {
  /** Gives a chat away. */
  handOver(userId: string, id: string): LiveChat | undefined;
  reply(userId: string, id: string): LiveReply | undefined;
  forgetHere(userId: string, conversationIds?: readonly string[]): void;
  callHere(key: string): { mac: string; replyId: string } | undefined;
}

/** A reply and what it answers. */
export interface Exchange {
  question: MessageView;
  message: MessageView;
}

interface Named {
  userId: string;
  id: string;
}
type Following = Named & { afterSeq: number; stream: string };

interface Inbox {
  owner: string | undefined;
  /** What came before somebody listened. */
  waiting: ReplyEvent[];
  take(event: ReplyEvent): void;
}

/**
 * Asks the other processes, and answers them. Without others every question is answered at once, by nothing.
 */
export class Elsewhere {
  readonly #peers: Peers;
  readonly #inboxes = new Map<string, Inbox>();
  /** Replies of this process that others follow. */
  readonly #outgoing = new Map<string, { to: string; end(): void }>();

  constructor(peers: Peers, here: Here) {
    this.#peers = peers;
    // What arrives was sealed by a process of the same installation: its shape is ours.
    peers.answer('chat', (body) => here.handOver(...named(body)));
    peers.answer('reply', (body) => exchangeOf(here.reply(...named(body))));
    peers.answer('call', (body) => here.callHere((body as { key: string }).key));
    peers.answer('stop', (body) => here.reply(...named(body))?.stop());
    peers.answer('forget', (body) => {
      const { userId, conversationIds } = body as { userId: string; conversationIds?: string[] };
      here.forgetHere(userId, conversationIds);
    });
    peers.answer('follow', (body, from) => {
      const reply = here.reply(...named(body));
      if (reply) void this.#sendAll(reply, { ...(body as Following), to: from });
      return exchangeOf(reply);
    });
    peers.answer('unfollow', (body) => this.#outgoing.get((body as { stream: string }).stream)?.end());
    peers.answer('event', (body) => {
      const { stream, event } = body as { stream: string; event: ReplyEvent };
      this.#inboxes.get(stream)?.take(arrivedEvent(event));
    });
    peers.onGone((id) => {
      for (const { to, end } of this.#outgoing.values()) if (to === id) end();
      for (const inbox of this.#inboxes.values()) if (inbox.owner === id) inbox.owner = undefined;
    });
  }

  /** Takes a chat over from whoever has it. */
  async chat(userId: string, id: string): Promise<LiveChat | undefined> {
    const found = await this.#peers.ask('chat', { userId, id });
    return found && arrivedChat(found.answer as LiveChat);
  }

  async reply(userId: string, id: string): Promise<Exchange | undefined> {
    const found = await this.#peers.ask('reply', { userId, id });
    return found && arrivedExchange(found.answer as Exchange);
  }

  /** An equal call that another process took in the last minutes. */
  async call(key: string): Promise<{ mac: string; replyId: string } | undefined> {
    const found = await this.#peers.ask('call', { key });
    return found?.answer as { mac: string; replyId: string } | undefined;
  }

  stop(userId: string, id: string): Promise<void> {
    return this.#peers.tell('stop', { userId, id });
  }

  forget(userId: string, conversationIds?: readonly string[]): Promise<void> {
    return this.#peers.tell('forget', { userId, conversationIds });
  }

  /** The events of a reply that another process writes, until its end; if that process dies, a failure. */
  async follow(userId: string, id: string, afterSeq: number): Promise<Repeater<ReplyEvent> | undefined> {
    const stream = randomUUID();
    const inbox: Inbox = { owner: undefined, waiting: [], take: (event) => inbox.waiting.push(event) };
    this.#inboxes.set(stream, inbox);
    const found = await this.#peers.ask('follow', { userId, id, afterSeq, stream });
    if (!found) {
      this.#inboxes.delete(stream);
      return undefined;
    }
    inbox.owner = found.from;
    const { message } = arrivedExchange(found.answer as Exchange);
    return new Repeater<ReplyEvent>(async (push, stop) => {
      let seq = afterSeq;
      inbox.take = (event) => {
        seq = event.seq;
        push(event).then(undefined, stop);
        if (isEnd(event)) stop();
      };
      for (const event of inbox.waiting.splice(0)) inbox.take(event);
      const watch = setInterval(() => {
        if (inbox.owner === undefined) inbox.take(brokenOff(message, seq + 1));
      }, WATCH_MS);
      await stop;
      clearInterval(watch);
      this.#inboxes.delete(stream);
      await this.#peers.tell('unfollow', { stream }, found.from);
    });
  }

  async #sendAll(reply: LiveReply, { afterSeq, stream, to }: Following & { to: string }): Promise<void> {
    const events = reply.follow(afterSeq);
    this.#outgoing.set(stream, { to, end: () => void events.return() });
    for await (const event of events) await this.#peers.tell('event', { stream, event }, to);
    this.#outgoing.delete(stream);
  }
}

/** How soon a follower notices that the process of its reply is gone, in ms. */
const WATCH_MS = 500;

/** The end of a reply whose process is gone. */
export function brokenOff(message: MessageView, seq: number): ReplyEvent {
  const failure = {
    code: 'UPSTREAM_FAILED' as const,
    message: 'The reply broke off. Try again.',
    retryable: true,
  };
  const failed = { ...message, state: 'FAILED' as const, errorCode: failure.code, error: failure.message };
  return { kind: 'failed', seq, message: failed, failure };
}

function named(body: unknown): [userId: string, id: string] {
  const { userId, id } = body as Named;
  return [userId, id];
}

function exchangeOf(reply: LiveReply | undefined): Exchange | undefined {
  return reply && { question: reply.question, message: reply.message };
}

function arrivedExchange({ question, message }: Exchange): Exchange {
  return { question: arrivedMessage(question), message: arrivedMessage(message) };
}

function arrivedEvent(event: ReplyEvent): ReplyEvent {
  return isEnd(event) ? { ...event, message: arrivedMessage(event.message) } : event;
}

function isEnd(event: ReplyEvent): event is Extract<ReplyEvent, { kind: 'completed' | 'failed' }> {
  return event.kind === 'completed' || event.kind === 'failed';
}
