/** Streams of flat chunks: each may speak of several choices, and none says when a choice begins. */
import { GatewayError } from '@gateway/shared/failures';
import type { ChatEvent } from './canonical.ts';
import { parseObject } from './fields.ts';
import type { JsonObject } from './fields.ts';
import type { SseFrame } from './sse.ts';
import { unreadableAnswer } from './upstream-errors.ts';

/** One answer of several. */
interface ChunkedChoice {
  readonly finished: boolean;
  /** Its finish was told, though it may go on; a finished one may be over as well. */
  readonly mayBeOver: boolean;
}

/** The answer that the chunks tell: started by the first one, its choices opened as they are spoken of. */
export class ChunkedAnswer<Choice extends ChunkedChoice> {
  /** How many choices were asked for. */
  readonly asked: number;
  /** Nothing more is read. */
  ended = false;
  readonly #open: (index: number, answerId: string) => Choice;
  readonly #choices = new Map<number, Choice>();
  #id = '';
  #started = false;

  /** `open` makes the state of a choice that is spoken of for the first time. */
  constructor(asked: number, open: (index: number, answerId: string) => Choice) {
    this.asked = asked;
    this.#open = open;
  }

  /**
   * Whether nothing that was begun is open, however many choices were asked for: some upstreams give fewer.
   * Enough is also what was asked for, whatever else was begun.
   */
  get mayBeOver(): boolean {
    let over = 0;
    for (const choice of this.#choices.values()) if (choice.mayBeOver) over += 1;
    return over > 0 && (over === this.#choices.size || over >= this.asked);
  }

  /** The choices so far. */
  get choices(): Choice[] {
    return [...this.#choices.values()];
  }

  /** Whether every one of at least so many choices has finished. */
  hasFinished(atLeast: number): boolean {
    const { choices } = this;
    return choices.length >= atLeast && choices.every(({ finished }) => finished);
  }

  /** The events of one chunk; what is no chunk, and every failure thrown, ends the answer as an error. */
  push(frame: SseFrame, read: (chunk: JsonObject) => ChatEvent[]): ChatEvent[] {
    if (this.ended) return [];
    try {
      const chunk = parseObject(frame.data);
      if (!chunk) throw unreadableAnswer('a chunk that is no JSON object');
      return read(chunk);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.ended = true;
      return [{ type: 'error', error }];
    }
  }

  /** The start of the answer, once. */
  start(id: string, model: string): ChatEvent[] {
    if (this.#started) return [];
    this.#started = true;
    this.#id = id;
    return [{ type: 'start', id, model }];
  }

  choice(index: number): Choice {
    const known = this.#choices.get(index);
    if (known) return known;
    const opened = this.#open(index, this.#id);
    this.#choices.set(index, opened);
    return opened;
  }
}
