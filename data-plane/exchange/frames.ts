/**
 * Splits a byte stream of server-sent events into whole events without changing a byte, so that a mirrored
 * stream can be relayed, held back or filtered event by event. Pure; chunks may be cut anywhere.
 */
import { GatewayError } from '@gateway/shared/failures';
import type { SseFrame } from '../dialects/sse.ts';

/** Maximum size of one event, in bytes: a generated image is sent inside a single event. */
export const FRAME_BYTES = 16 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** Splits a stream into events; keeps the bytes of an incomplete event until the next chunk. */
export class FrameSplitter {
  #carry: Buffer[] = [];
  #carried = 0;
  #lineEmpty = true;
  #frameEmpty = true;
  #afterReturn = false;
  #isFirst = true;

  /** Whether the bytes so far end with a whole event. */
  get isBetweenEvents(): boolean {
    return this.#carried === 0 && this.#frameEmpty;
  }

  /**
   * The events that this chunk completes, each with the empty line that ends it. Throws `upstream_failed` for
   * an event above the maximum size.
   */
  push(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    let start = 0;
    let lineEmpty = this.#lineEmpty;
    let frameEmpty = this.#frameEmpty;
    let afterReturn = this.#afterReturn;
    const isPlain = !chunk.includes(CARRIAGE_RETURN);
    for (let at = 0; at < chunk.length; at += 1) {
      // Without carriage returns only line feeds matter, and `indexOf` finds them faster than a loop.
      const feed = isPlain ? chunk.indexOf(LINE_FEED, at) : at;
      if (feed !== at) {
        lineEmpty = false;
        frameEmpty = false;
        afterReturn = false;
        if (feed < 0) break;
        at = feed;
      }
      const byte = chunk[at];
      if (byte === LINE_FEED && afterReturn) {
        afterReturn = false;
        continue;
      }
      afterReturn = byte === CARRIAGE_RETURN;
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
        lineEmpty = false;
        frameEmpty = false;
      } else if (!lineEmpty || frameEmpty) {
        lineEmpty = true;
      } else {
        // The line feed of a CRLF belongs to the event that ends here, not to the next one.
        if (byte === CARRIAGE_RETURN && chunk[at + 1] === LINE_FEED) at += 1;
        afterReturn = chunk[at] === CARRIAGE_RETURN;
        frames.push(this.#complete(chunk.subarray(start, at + 1)));
        start = at + 1;
        lineEmpty = true;
        frameEmpty = true;
      }
    }
    this.#lineEmpty = lineEmpty;
    this.#frameEmpty = frameEmpty;
    this.#afterReturn = afterReturn;
    if (start < chunk.length) this.#keep(chunk.subarray(start));
    return frames;
  }

  /** The last event, if the body ended without the empty line after it; else undefined. */
  end(): Buffer | undefined {
    if (this.#frameEmpty) return undefined;
    return this.#complete(Buffer.alloc(0));
  }

  /** Name and data of the next event that was returned; undefined for comments and events without data. */
  read(frame: Buffer): SseFrame | undefined {
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    return readFrame(frame, isFirst);
  }

  #complete(tail: Buffer): Buffer {
    const frame = this.#carried > 0 ? Buffer.concat([...this.#carry, tail]) : tail;
    this.#carry = [];
    this.#carried = 0;
    this.#lineEmpty = true;
    this.#frameEmpty = true;
    return frame;
  }

  #keep(rest: Buffer): void {
    this.#carry.push(rest);
    this.#carried += rest.length;
    if (this.#carried > FRAME_BYTES) {
      throw new GatewayError('upstream_failed', 'The upstream sent an event that is too long. Try again.');
    }
  }
}

/** Reads an event. Only the first one of a stream may begin with a byte order mark. */
function readFrame(frame: Buffer, isFirst: boolean): SseFrame | undefined {
  const text = frame.toString('utf8');
  // Fast path: most events are one `data: …` line.
  if (text.startsWith('data: ') && text.indexOf('\n') === text.length - 2 && !text.includes('\r')) {
    return { data: text.slice(6, -2) };
  }
  let event: string | undefined;
  const data: string[] = [];
  for (const line of (isFirst ? text.replace(/^\uFEFF/, '') : text).split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value || undefined;
  }
  if (data.length === 0) return undefined;
  return event === undefined ? { data: data.join('\n') } : { event, data: data.join('\n') };
}
