/** One reply while it is written, and for a short time after: its text in memory, followed from any place. */
import { setTimeout as wait } from 'node:timers/promises';
import { Repeater } from '@graphql-yoga/subscription';
import type { UserErrorCode } from '../errors.ts';
import type { Attachment, MessageRole, MessageState } from './conversation.entity.ts';

/** Followers get what came in such a span in one event. */
const BATCH_MS = 40;
/** A longer reply is stopped. */
const CHARACTERS_MAX = 1_000_000;

/** A message as the API shows it, stored or not. */
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
}

export type ReplyPart = 'text' | 'reasoning';

/** How a reply ended, where it did not end well. */
export interface ReplyFailure {
  code: UserErrorCode;
  message: string;
  retryable: boolean;
}

/** Text that follows the part `after` and ends with the part `seq`. */
export interface PartEvent {
  kind: ReplyPart;
  after: number;
  seq: number;
  text: string;
}

/** What a follower hears. `seq` counts the parts; the end has the number after the last. */
export type ReplyEvent =
  | PartEvent
  | { kind: 'completed'; seq: number; message: MessageView }
  | { kind: 'failed'; seq: number; message: MessageView; failure: ReplyFailure };

/** A reply that is being written. Parts are appended, then it ends once; everything is safe to call after. */
export class LiveReply {
  readonly userId: string;
  /** What it answers. */
  readonly question: MessageView;
  readonly message: MessageView;
  /** Ends the request to the data plane. */
  readonly abort = new AbortController();
  endedAt: number | undefined;
  #parts: { kind: ReplyPart; text: string }[] = [];
  #length = 0;
  #failure: ReplyFailure | undefined;
  readonly #waiting = new Set<() => void>();

  constructor(parts: { userId: string; question: MessageView; message: MessageView }) {
    this.userId = parts.userId;
    this.question = parts.question;
    this.message = parts.message;
  }

  append(kind: ReplyPart, text: string): void {
    if (this.endedAt !== undefined || this.abort.signal.aborted || text === '') return;
    this.#parts.push({ kind, text });
    this.#length += text.length;
    if (kind === 'text') this.message.content += text;
    else this.message.reasoning = (this.message.reasoning ?? '') + text;
    this.#wake();
    if (this.#length > CHARACTERS_MAX) this.abort.abort();
  }

  end(state: MessageState, failure?: ReplyFailure): void {
    if (this.endedAt !== undefined) return;
    this.endedAt = Date.now();
    this.#failure = failure;
    Object.assign(this.message, { state, errorCode: failure?.code ?? null, error: failure?.message ?? null });
    this.#wake();
  }

  /** Stops writing; what was written so far stays. */
  stop(): void {
    this.abort.abort();
  }

  /** Lets go of the text. Who follows still gets the end. */
  forget(): void {
    this.#parts = [];
    Object.assign(this.message, { content: '', reasoning: null, attachments: [] });
  }

  /** The parts after `afterSeq`, those already written in one piece of each kind, and then the end. */
  follow(afterSeq: number): Repeater<ReplyEvent> {
    return new Repeater<ReplyEvent>(async (push, stop) => {
      let left = false;
      const leaving = stop.then(() => {
        left = true;
        this.#wake();
      });
      let seq = afterSeq;
      while (!left) {
        const fresh = this.#after(seq);
        for (const event of fresh) {
          await Promise.race([push(event), leaving]);
          seq = event.seq;
        }
        if (fresh.length === 0 && this.endedAt !== undefined) break;
        if (fresh.length === 0) await new Promise<void>((resolve) => this.#waiting.add(resolve));
        if (!left && this.endedAt === undefined) await wait(BATCH_MS);
      }
      if (!left) await Promise.race([push(this.#end()), leaving]);
      stop();
    });
  }

  #after(seq: number): PartEvent[] {
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

  #end(): ReplyEvent {
    const seq = this.#parts.length + 1;
    const { message } = this;
    const failure = this.#failure;
    return failure ? { kind: 'failed', seq, message, failure } : { kind: 'completed', seq, message };
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
