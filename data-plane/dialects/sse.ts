/**
 * Server-sent events: bytes ⇄ frames, incremental, no I/O.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
import { GatewayError } from '@gateway/shared/failures';

/** One event. `event` is undefined where the stream named none. */
export interface SseFrame {
  event?: string;
  data: string;
}

/** The longest event that is read, in UTF-16 units; base64 images in one event are the longest ones seen. */
export const MAX_EVENT_LENGTH = 32 * 1024 * 1024;

const LINE_END = /\r\n|\n|\r/g;

/**
 * Reads frames from network chunks cut anywhere, inside UTF-8 sequences and CRLF pairs too. A byte order
 * mark, comments and unknown fields are skipped, lines end in CRLF, LF or CR. Throws `upstream_failed` for an
 * event beyond the limit.
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
   * The frame that the body's end completes: providers omit the last blank line now and then, so unlike a
   * browser we take an event that its end cut off there.
   */
  end(): SseFrame[] {
    const frames = this.#read(this.#decoder.decode());
    if (this.#rest) this.#line(this.#rest, frames);
    this.#rest = '';
    this.#dispatch(frames);
    return frames;
  }

  #read(decoded: string): SseFrame[] {
    // A chunk that ends in CR already ended its line; the LF that opens the next one belongs to it.
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

function tooLong(): GatewayError {
  return new GatewayError('upstream_failed', 'The model sent an event beyond the length limit. Try again.');
}

/** The text of one frame; line ends inside the data become several data lines. */
export function writeFrame({ event, data }: SseFrame): string {
  const lines = /[\r\n]/.test(data)
    ? data
        .split(/\r\n|\n|\r/)
        .map((line) => `data: ${line}\n`)
        .join('')
    : `data: ${data}\n`;
  return `${event === undefined ? '' : `event: ${event}\n`}${lines}\n`;
}

/** The text of one frame whose data is a JSON value. */
export function writeJsonFrame(value: unknown, event?: string): string {
  return writeFrame({ ...(event === undefined ? {} : { event }), data: JSON.stringify(value) });
}
