/** Puts the interleaved blocks of one choice in a row, as the canonical events demand. */
import { brokenOff } from './answer.ts';
import type { BlockHead, ChatEvent, Citation, Seal, TokenLogprob } from './canonical.ts';

/** Text that may wait for an earlier block to end, in characters. */
const MAX_WAITING_CHARACTERS = 8 * 1024 * 1024;

interface Entry {
  key: string;
  head: BlockHead;
  /** What was written to it, where it is a call: only arguments have to be whole JSON in the end. */
  text: string;
  waiting: ChatEvent[];
  closed: boolean;
}

/**
 * The first block is live: its events pass at once. Events of later blocks wait until every earlier one was
 * closed. The decoder names blocks by a key of its own (a tool call's index, an item's id) and says when each
 * one closes.
 */
export class BlockSequence {
  readonly #choice: number;
  #entries: Entry[] = [];
  #waitingCharacters = 0;

  constructor(choice: number) {
    this.#choice = choice;
  }

  /** Blocks that are not closed yet, oldest first; calls with their arguments so far. */
  get unclosed(): { key: string; head: BlockHead; text: string }[] {
    return this.#entries.filter((entry) => !entry.closed);
  }

  isOpen(key: string): boolean {
    return this.#entries.some((entry) => entry.key === key && !entry.closed);
  }

  /** `seal`: where it is known already; `close` wants it again. */
  open(key: string, head: BlockHead, seal?: Seal): ChatEvent[] {
    this.#entries.push({ key, head, text: '', waiting: [], closed: false });
    return this.#emit(this.#entries.at(-1), {
      type: 'block-start',
      choice: this.#choice,
      block: head,
      ...(seal ? { seal } : {}),
    });
  }

  /** Nothing happens for a key that is not open. */
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

  /** A call without arguments gets `{}`, so that its text is always a JSON object's. */
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

  /** Lets the next blocks pass after the live one was closed. */
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
      throw brokenOff('too much text of interleaved blocks');
    return [];
  }
}
