/** A reply in memory while it is written and for a short time after, and its events for followers. */
import { setTimeout as wait } from 'node:timers/promises';
import { Repeater } from '@graphql-yoga/subscription';
import type { UserErrorCode } from '../graphql/errors.ts';
import type { PersonalKind } from '../intelligence/switch.entity.ts';
import type { Attachment, MessageRole, MessageState } from './conversation.entity.ts';

/** Followers get the text of this interval in one event, in ms. */
const BATCH_MS = 40;
/** Longer replies are stopped. */
const CHARACTERS_MAX = 1_000_000;

/** A line about the user that was sent with a question. */
export interface UsedItem {
  /** The item that the line was made from. It may have been changed or deleted since. */
  itemId: string;
  kind: PersonalKind;
  /** The exact text of the line. */
  text: string;
}

/**
 * A message as the API shows it, stored or not. It is sent as JSON between instances of different releases:
 * member names must not change.
 */
export interface MessageView {
  id: string;
  conversationId: string;
  parentId: string | null;
  role: MessageRole;
  content: string;
  reasoning: string | null;
  attachments: Attachment[];
  state: MessageState;
  errorCode: string | null;
  error: string | null;
  modelName: string | null;
  requestId: string | null;
  createdAt: Date;
  /** On replies: what of Personal Intelligence was sent with the question. */
  usedItems: UsedItem[];
}

/** Kind of a part of a reply. */
export type ReplyPart = 'text' | 'reasoning';

/** Why a reply failed. */
export interface ReplyFailure {
  code: UserErrorCode;
  message: string;
  /** Whether trying again may help. */
  retryable: boolean;
}

/** Text of consecutive parts: from the part after number `after` to number `seq`. */
export interface PartEvent {
  kind: ReplyPart;
  after: number;
  seq: number;
  text: string;
}

/** An event for followers. Parts are numbered from 1 by `seq`; the last event has the next number. */
export type ReplyEvent =
  | PartEvent
  | { kind: 'completed'; seq: number; message: MessageView }
  | { kind: 'failed'; seq: number; message: MessageView; failure: ReplyFailure };

/** A reply that is being written: parts are appended, then it ends once. After that, calls have no effect. */
export class RunningReply {
  readonly userId: string;
  /** The message that it answers. */
  readonly question: MessageView;
  readonly message: MessageView;
  /** Aborts the request to the data plane. */
  readonly abort = new AbortController();
  endedAt: number | undefined;
  #parts: { kind: ReplyPart; text: string }[] = [];
  #length = 0;
  #failure: ReplyFailure | undefined;
  readonly #waiters = new Set<() => void>();

  constructor(parts: { userId: string; question: MessageView; message: MessageView }) {
    this.userId = parts.userId;
    this.question = parts.question;
    this.message = parts.message;
  }

  /** Adds a part. Stops the reply if it becomes too long. */
  append(kind: ReplyPart, text: string): void {
    if (this.endedAt !== undefined || this.abort.signal.aborted || text === '') return;
    this.#parts.push({ kind, text });
    this.#length += text.length;
    if (kind === 'text') this.message.content += text;
    else this.message.reasoning = (this.message.reasoning ?? '') + text;
    this.#wake();
    if (this.#length > CHARACTERS_MAX) this.abort.abort();
  }

  /** Ends the reply. Later calls have no effect. */
  end(state: MessageState, failure?: ReplyFailure): void {
    if (this.endedAt !== undefined) return;
    this.endedAt = Date.now();
    this.#failure = failure;
    Object.assign(this.message, { state, errorCode: failure?.code ?? null, error: failure?.message ?? null });
    this.#wake();
  }

  /** Stops writing. The text so far is kept. */
  stop(): void {
    this.abort.abort();
  }

  /** Deletes the text from memory. Followers still get the end event. */
  forget(): void {
    this.#parts = [];
    Object.assign(this.message, { content: '', reasoning: null, attachments: [] });
  }

  /** The events after part `afterSeq`, up to the end. Consecutive parts of one kind come as one event. */
  follow(afterSeq: number): Repeater<ReplyEvent> {
    return new Repeater<ReplyEvent>(async (push, stop) => {
      let stopped = false;
      const stopping = stop.then(() => {
        stopped = true;
        this.#wake();
      });
      let seq = afterSeq;
      while (!stopped) {
        const events = this.#partsAfter(seq);
        for (const event of events) {
          await Promise.race([push(event), stopping]);
          seq = event.seq;
        }
        if (events.length === 0 && this.endedAt !== undefined) break;
        if (events.length === 0) await new Promise<void>((resolve) => this.#waiters.add(resolve));
        if (!stopped && this.endedAt === undefined) await wait(BATCH_MS);
      }
      if (!stopped) await Promise.race([push(this.#endEvent()), stopping]);
      stop();
    });
  }

  #partsAfter(seq: number): PartEvent[] {
    const events: PartEvent[] = [];
    for (let at = Math.max(0, seq); at < this.#parts.length; at += 1) {
      const part = this.#parts[at];
      const last = events.at(-1);
      if (!part) continue;
      if (last?.kind === part.kind) Object.assign(last, { seq: at + 1, text: last.text + part.text });
      else events.push({ ...part, after: at, seq: at + 1 });
    }
    return events;
  }

  #endEvent(): ReplyEvent {
    const seq = this.#parts.length + 1;
    const { message } = this;
    const failure = this.#failure;
    return failure ? { kind: 'failed', seq, message, failure } : { kind: 'completed', seq, message };
  }

  #wake(): void {
    for (const resolve of this.#waiters) resolve();
    this.#waiters.clear();
  }
}
