/**
 * A parser of server-sent events for tests, independent of the gateway's own frame splitter.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import type { SseFrame } from '../data-plane/dialects/sse.ts';

/** Maximum length of one event, in UTF-16 code units. Images in base64 are the longest events. */
const MAX_EVENT_LENGTH = 32 * 1024 * 1024;

const LINE_END = /\r\n|\n|\r/g;

/**
 * Parses network chunks that are cut anywhere, also inside UTF-8 sequences and CRLF pairs. Lines end in
 * CRLF, LF or CR; a byte order mark, comments and unknown fields are skipped. Throws for an event beyond the
 * maximum length.
 */
export class SseParser {
  readonly #decoder = new TextDecoder('utf-8');
  readonly #maxLength: number;
  #rest = '';
  #skipLineFeed = false;
  #event = '';
  #data: string[] = [];
  #length = 0;

  constructor(maxLength = MAX_EVENT_LENGTH) {
    this.#maxLength = maxLength;
  }

  push(chunk: Uint8Array): SseFrame[] {
    return this.#read(this.#decoder.decode(chunk, { stream: true }));
  }

  /**
   * Returns the last event, even without its blank line, which some providers omit. Browsers would drop it.
   */
  end(): SseFrame[] {
    const frames = this.#read(this.#decoder.decode());
    if (this.#rest) this.#line(this.#rest, frames);
    this.#rest = '';
    this.#dispatch(frames);
    return frames;
  }

  #read(decoded: string): SseFrame[] {
    // A line ends with the CR at the end of a chunk; an LF at the start of the next chunk belongs to that CR.
    const text = this.#skipLineFeed && decoded.startsWith('\n') ? decoded.slice(1) : decoded;
    if (decoded) this.#skipLineFeed = decoded.endsWith('\r');
    const frames: SseFrame[] = [];
    let from = 0;
    for (const match of text.matchAll(LINE_END)) {
      this.#line(this.#rest + text.slice(from, match.index), frames);
      this.#rest = '';
      from = match.index + match[0].length;
    }
    this.#rest += text.slice(from);
    if (this.#rest.length + this.#length > this.#maxLength) throw tooLong();
    return frames;
  }

  #line(line: string, frames: SseFrame[]): void {
    if (line === '') return this.#dispatch(frames);
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value;
    if (field !== 'data') return;
    this.#data.push(value);
    this.#length += value.length;
    if (this.#length > this.#maxLength) throw tooLong();
  }

  #dispatch(frames: SseFrame[]): void {
    if (this.#data.length > 0) {
      frames.push({ ...(this.#event ? { event: this.#event } : {}), data: this.#data.join('\n') });
    }
    this.#event = '';
    this.#data = [];
    this.#length = 0;
  }
}

function tooLong(): Error {
  return new Error('the event exceeds the maximum length');
}
