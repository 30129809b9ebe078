/**
 * Access to chats and replies of the Playground that other instances of the control plane hold in memory. An
 * unstored chat moves to the instance that asks for it; a reply stays where it is written and is streamed
 * from there.
 */
import { randomUUID } from 'node:crypto';
import { Repeater } from '@graphql-yoga/subscription';
import type { InstanceBus } from './instance-bus.ts';
import { chatFromJson, messageFromJson } from './unstored-chat.ts';
import type { UnstoredChat } from './unstored-chat.ts';
import type { MessageView, ReplyEvent, RunningReply } from './running-reply.ts';

/** Data in the memory of this instance, for requests of other instances. */
export interface LocalPlayground {
  /** Removes the chat here and returns it. */
  releaseChat(userId: string, id: string): UnstoredChat | undefined;
  localReply(userId: string, id: string): RunningReply | undefined;
  forgetLocal(userId: string, conversationIds?: readonly string[]): void;
  localSend(key: string): EarlierSend | undefined;
}

/** A send that was executed before: MAC of its input, and id of its reply. */
export interface EarlierSend {
  mac: string;
  replyId: string;
}

/** A reply with the question that it answers. */
export interface QuestionAndReply {
  question: MessageView;
  message: MessageView;
}

interface OwnedId {
  userId: string;
  id: string;
}
type FollowRequest = OwnedId & { afterSeq: number; stream: string };

/** Receives the events of a reply from another instance. */
interface IncomingStream {
  /** The instance that writes the reply; undefined once it has left. */
  source: string | undefined;
  /** Events that arrived before the consumer started. */
  queued: ReplyEvent[];
  receive(event: ReplyEvent): void;
}

/** How often a follower checks whether the instance that writes its reply has left, in ms. */
const CHECK_MS = 500;

/**
 * Sends requests to the other instances and handles theirs. The topics and message bodies are shared with
 * instances of other releases: they must not change.
 */
export class RemotePlayground {
  readonly #bus: InstanceBus;
  readonly #incoming = new Map<string, IncomingStream>();
  /** Replies of this instance that other instances follow. */
  readonly #outgoing = new Map<string, { to: string; end(): void }>();

  constructor(bus: InstanceBus, local: LocalPlayground) {
    this.#bus = bus;
    // Bodies need no validation: they were encrypted by an instance with the same SECRET_KEY.
    bus.handle('chat', (body) => local.releaseChat(...ownedId(body)));
    bus.handle('reply', (body) => withQuestion(local.localReply(...ownedId(body))));
    bus.handle('call', (body) => local.localSend((body as { key: string }).key));
    bus.handle('stop', (body) => local.localReply(...ownedId(body))?.stop());
    bus.handle('forget', (body) => {
      const { userId, conversationIds } = body as { userId: string; conversationIds?: string[] };
      local.forgetLocal(userId, conversationIds);
    });
    bus.handle('follow', (body, from) => {
      const reply = local.localReply(...ownedId(body));
      if (reply) void this.#sendEvents(reply, { ...(body as FollowRequest), to: from });
      return withQuestion(reply);
    });
    bus.handle('unfollow', (body) => this.#outgoing.get((body as { stream: string }).stream)?.end());
    bus.handle('event', (body) => {
      const { stream, event } = body as { stream: string; event: ReplyEvent };
      this.#incoming.get(stream)?.receive(eventFromJson(event));
    });
    bus.onLeave((id) => {
      for (const { to, end } of this.#outgoing.values()) if (to === id) end();
      for (const stream of this.#incoming.values()) if (stream.source === id) stream.source = undefined;
    });
  }

  /** Moves an unstored chat from another instance to this one; undefined if none has it. */
  async takeChat(userId: string, id: string): Promise<UnstoredChat | undefined> {
    const response = await this.#bus.request('chat', { userId, id });
    return response && chatFromJson(response.body as UnstoredChat);
  }

  /** A reply that another instance writes or wrote a moment ago, with its question. */
  async findReply(userId: string, id: string): Promise<QuestionAndReply | undefined> {
    const response = await this.#bus.request('reply', { userId, id });
    return response && fromJson(response.body as QuestionAndReply);
  }

  /** The send with this key that another instance executed in the last minutes. */
  async findSend(key: string): Promise<EarlierSend | undefined> {
    const response = await this.#bus.request('call', { key });
    return response?.body as EarlierSend | undefined;
  }

  /** Stops a reply in all other instances. */
  stop(userId: string, id: string): Promise<void> {
    return this.#bus.send('stop', { userId, id });
  }

  /** Stops and forgets the user's chats with these ids, or all of them, in all other instances. */
  forget(userId: string, conversationIds?: readonly string[]): Promise<void> {
    return this.#bus.send('forget', { userId, conversationIds });
  }

  /**
   * The events of a reply that another instance writes, up to its end; undefined if none has it. If that
   * instance leaves, the last event is a failure.
   */
  async follow(userId: string, id: string, afterSeq: number): Promise<Repeater<ReplyEvent> | undefined> {
    const stream = randomUUID();
    const incoming: IncomingStream = {
      source: undefined,
      queued: [],
      receive: (event) => incoming.queued.push(event),
    };
    this.#incoming.set(stream, incoming);
    const response = await this.#bus.request('follow', { userId, id, afterSeq, stream });
    if (!response) {
      this.#incoming.delete(stream);
      return undefined;
    }
    incoming.source = response.from;
    const { message } = fromJson(response.body as QuestionAndReply);
    return new Repeater<ReplyEvent>(async (push, stop) => {
      let seq = afterSeq;
      incoming.receive = (event) => {
        seq = event.seq;
        push(event).then(undefined, stop);
        if (isEnd(event)) stop();
      };
      for (const event of incoming.queued.splice(0)) incoming.receive(event);
      const timer = setInterval(() => {
        if (incoming.source === undefined) incoming.receive(interrupted(message, seq + 1));
      }, CHECK_MS);
      await stop;
      clearInterval(timer);
      this.#incoming.delete(stream);
      await this.#bus.send('unfollow', { stream }, response.from);
    });
  }

  async #sendEvents(
    reply: RunningReply,
    { afterSeq, stream, to }: FollowRequest & { to: string },
  ): Promise<void> {
    const events = reply.follow(afterSeq);
    this.#outgoing.set(stream, { to, end: () => void events.return() });
    for await (const event of events) await this.#bus.send('event', { stream, event }, to);
    this.#outgoing.delete(stream);
  }
}

/** The last event of a reply whose instance has left. */
export function interrupted(message: MessageView, seq: number): ReplyEvent {
  const failure = {
    code: 'UPSTREAM_FAILED' as const,
    message: 'The reply was interrupted. Try again.',
    retryable: true,
  };
  const failed = { ...message, state: 'FAILED' as const, errorCode: failure.code, error: failure.message };
  return { kind: 'failed', seq, message: failed, failure };
}

function ownedId(body: unknown): [userId: string, id: string] {
  const { userId, id } = body as OwnedId;
  return [userId, id];
}

function withQuestion(reply: RunningReply | undefined): QuestionAndReply | undefined {
  return reply && { question: reply.question, message: reply.message };
}

function fromJson({ question, message }: QuestionAndReply): QuestionAndReply {
  return { question: messageFromJson(question), message: messageFromJson(message) };
}

function eventFromJson(event: ReplyEvent): ReplyEvent {
  return isEnd(event) ? { ...event, message: messageFromJson(event.message) } : event;
}

function isEnd(event: ReplyEvent): event is Extract<ReplyEvent, { kind: 'completed' | 'failed' }> {
  return event.kind === 'completed' || event.kind === 'failed';
}
