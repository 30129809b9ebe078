/** Serialises interleaved blocks of one choice, as the rules of canonical events require. */
import { incompleteAnswer } from './answer.ts';
import type { BlockHead, ChatEvent, Citation, Seal, TokenLogprob } from './canonical.ts';

/** Maximum text that waits for an earlier block to end, in characters. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;

interface Entry {
  key: string;
  head: BlockHead;
  /** The arguments so far, kept only for tool calls: decoders check whether they are complete JSON. */
  text: string;
  waiting: ChatEvent[];
  closed: boolean;
}

/**
 * The blocks of one choice. Events of the oldest open block are returned at once; events of later blocks
 * wait until all earlier blocks are closed. The decoder identifies blocks by keys of its own (a tool call's
 * index, an item's id) and closes each of them. Throws `upstream_failed` if too much text waits.
 */
export class BlockSequence {
  readonly #choice: number;
  #entries: Entry[] = [];
  #waitingCharacters = 0;

  constructor(choice: number) {
    this.#choice = choice;
  }

  /** The open blocks, oldest first; `text` holds the arguments so far of tool calls. */
  get unclosed(): { key: string; head: BlockHead; text: string }[] {
    return this.#entries.filter((entry) => !entry.closed);
  }

  isOpen(key: string): boolean {
    return this.#entries.some((entry) => entry.key === key && !entry.closed);
  }

  /** Opens a block. A seal that is known already is passed to `close` again. */
  open(key: string, head: BlockHead, seal?: Seal): ChatEvent[] {
    const entry = { key, head, text: '', waiting: [], closed: false };
    // A list that grows has room for 17 blocks as long as the stream is open, and most answers have one.
    if (this.#entries.length === 0) this.#entries = [entry];
    else this.#entries.push(entry);
    return this.#emit(this.#entries.at(-1), {
      type: 'block-start',
      choice: this.#choice,
      block: head,
      ...(seal ? { seal } : {}),
    });
  }

  /** Adds text to a block; does nothing if the block is not open. */
  delta(key: string, text: string, logprobs?: TokenLogprob[]): ChatEvent[] {
    const entry = this.#find(key);
    if (!entry || (!text && !logprobs)) return [];
    if (entry.head.kind === 'tool-call') entry.text += text;
    return this.#emit(entry, {
      type: 'block-delta',
      choice: this.#choice,
      text,
      ...(logprobs ? { logprobs } : {}),
    });
  }

  cite(key: string, citation: Citation): ChatEvent[] {
    return this.#emit(this.#find(key), { type: 'citation', choice: this.#choice, citation });
  }

  /**
   * Closes a block. A function call without arguments gets `{}`, so that its text is always a JSON object.
   */
  close(key: string, seal?: Seal): ChatEvent[] {
    const entry = this.#find(key);
    if (!entry) return [];
    const isEmptyCall = entry.head.kind === 'tool-call' && !entry.head.custom && entry.text.trim() === '';
    const filled = isEmptyCall ? this.delta(key, '{}') : [];
    const end = this.#emit(entry, { type: 'block-end', choice: this.#choice, ...(seal ? { seal } : {}) });
    entry.closed = true;
    return [...filled, ...end, ...this.#advance()];
  }

  closeAll(): ChatEvent[] {
    return this.unclosed.flatMap(({ key }) => this.close(key));
  }

  /** Releases the events of the next blocks after the oldest one was closed. */
  #advance(): ChatEvent[] {
    const events: ChatEvent[] = [];
    while (this.#entries[0]?.closed) {
      this.#entries.shift();
      events.push(...(this.#entries[0]?.waiting ?? []));
      if (this.#entries[0]) this.#entries[0].waiting = [];
    }
    if (this.#entries.length < 2) this.#waitingCharacters = 0;
    return events;
  }

  #find(key: string): Entry | undefined {
    return this.#entries.find((entry) => entry.key === key && !entry.closed);
  }

  #emit(entry: Entry | undefined, event: ChatEvent): ChatEvent[] {
    if (!entry) return [];
    if (entry === this.#entries[0]) return [event];
    entry.waiting.push(event);
    this.#waitingCharacters += event.type === 'block-delta' ? event.text.length : 0;
    if (this.#waitingCharacters > MAX_WAITING_CHARACTERS)
      throw incompleteAnswer('too much text of interleaved blocks');
    return [];
  }
}
