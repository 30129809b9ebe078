/**
 * Cuts a byte stream of server-sent events into whole events without changing a byte, so that a mirrored
 * stream can be
 * relayed, held back or thinned out event by event. Pure; fed network chunks of any cut.
 */
import { GatewayError } from '@gateway/shared/failures';
import type { SseFrame } from '../dialects/sse.ts';

/** One event may be this long, in bytes: generated images travel inside single events. */
export const FRAME_BYTES = 16 * 1024 * 1024;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;

/** Collects the bytes of the event that is not complete yet. */
export class FrameSplitter {
  #carry: Buffer[] = [];
  #carried = 0;
  #lineEmpty = true;
  #frameEmpty = true;
  #afterReturn = false;

  /**
   * The events that this chunk completes, each with the empty line that ends it. Throws `upstream_failed`
   * when too long.
   */
  push(chunk: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    let start = 0;
    let lineEmpty = this.#lineEmpty;
    let frameEmpty = this.#frameEmpty;
    let afterReturn = this.#afterReturn;
    const isPlain = !chunk.includes(CARRIAGE_RETURN);
    for (let at = 0; at < chunk.length; at += 1) {
      // Without carriage returns only line feeds matter, and the runtime finds those faster than a loop.
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
        // The line feed of a CRLF belongs to the event that it ends, not to the next one.
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

  /**
   * What the clean end of the body leaves over: an event whose last empty line the upstream saved itself,
   * or nothing.
   */
  end(): Buffer | undefined {
    if (this.#frameEmpty) return undefined;
    return this.#complete(Buffer.alloc(0));
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
      throw new GatewayError('upstream_failed', 'The model sent an event that is too long. Try again.');
    }
  }
}

/** What a whole event says; undefined for comments and other events without data. */
export function readFrame(frame: Buffer): SseFrame | undefined {
  const text = frame.toString('utf8');
  // Most events are one `data: …` line; the rest takes the long way.
  if (text.startsWith('data: ') && text.indexOf('\n') === text.length - 2 && !text.includes('\r')) {
    return { data: text.slice(6, -2) };
  }
  let event: string | undefined;
  const data: string[] = [];
  for (const line of text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value || undefined;
  }
  if (data.length === 0) return undefined;
  return event === undefined ? { data: data.join('\n') } : { event, data: data.join('\n') };
}
