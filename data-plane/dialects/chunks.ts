/** Decodes streams of flat chunks (chat completions, generateContent), whose choices have no start event. */
import { GatewayError } from '@gateway/shared/failures';
import type { ChatEvent } from './canonical.ts';
import { parseExactObject, parseObject } from './fields.ts';
import type { JsonObject } from './fields.ts';
import type { SseFrame } from './sse.ts';
import { unreadableAnswer } from './upstream-errors.ts';

/** The decoder of one choice. */
interface ChoiceDecoder {
  readonly finished: boolean;
  /** Whether the upstream has sent a finish, even if it may go on; true for finished choices. */
  readonly mayBeComplete: boolean;
}

/** A streamed answer. The first chunk starts it; the first chunk of each choice opens that choice. */
export class ChunkedAnswer<Decoder extends ChoiceDecoder> {
  /** Number of choices requested. */
  readonly requested: number;
  /** True after the last event; further chunks are ignored. */
  ended = false;
  readonly #openChoice: (index: number, answerId: string) => Decoder;
  readonly #choices = new Map<number, Decoder>();
  #id = '';
  #started = false;

  /** `openChoice` creates the decoder of a choice. */
  constructor(requested: number, openChoice: (index: number, answerId: string) => Decoder) {
    this.requested = requested;
    this.#openChoice = openChoice;
  }

  /**
   * Whether all choices that were opened may be complete, or as many as requested. Fewer than requested are
   * enough, because some upstreams send fewer.
   */
  get mayBeComplete(): boolean {
    let complete = 0;
    for (const choice of this.#choices.values()) if (choice.mayBeComplete) complete += 1;
    return complete > 0 && (complete === this.#choices.size || complete >= this.requested);
  }

  /** The decoders of the choices opened so far. */
  get choices(): Decoder[] {
    return [...this.#choices.values()];
  }

  /** Whether there are at least `minimum` choices and all of them have finished. */
  hasFinished(minimum: number): boolean {
    const { choices } = this;
    return choices.length >= minimum && choices.every(({ finished }) => finished);
  }

  /** Decodes one chunk with `read`. A frame that is no JSON object and a GatewayError end the answer. */
  push(frame: SseFrame, read: (chunk: JsonObject) => ChatEvent[]): ChatEvent[] {
    if (this.ended) return [];
    try {
      // Only tool calls hold values that pass through. The exact parser takes 1 µs more per chunk.
      const hasCall = frame.data.includes('"function');
      const chunk = hasCall ? parseExactObject(frame.data) : parseObject(frame.data);
      if (!chunk) throw unreadableAnswer('a chunk that is no JSON object');
      return read(chunk);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.ended = true;
      return [{ type: 'error', error }];
    }
  }

  /** The `start` event for the first chunk, nothing for later ones. */
  start(id: string, model: string): ChatEvent[] {
    if (this.#started) return [];
    this.#started = true;
    this.#id = id;
    return [{ type: 'start', id, model }];
  }

  /** The decoder of a choice, created at its first chunk. */
  choice(index: number): Decoder {
    const known = this.#choices.get(index);
    if (known) return known;
    const opened = this.#openChoice(index, this.#id);
    this.#choices.set(index, opened);
    return opened;
  }
}
