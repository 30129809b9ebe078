/**
 * Recognises events that repeat an earlier one with another text, as most events of a stream do. Such events
 * need no parser. Pure, but for the memory of kept bytes.
 */
import { BACKSLASH, COLON, QUOTE, SPACE, skipSpace, textOf } from './json-scan.ts';
import { ownJoined } from '../call/own-bytes.ts';

/** Longest text that is searched for characters with a meaning, in bytes. */
const TEXT_BYTES = 1024;
/** Events that a stream may learn without a repetition: then its events differ in more than their texts. */
const UNUSED_MAX = 8;

/** The bytes around a text, with its quotes. */
interface Surroundings {
  before: Buffer;
  after: Buffer;
}

/** One event: as it arrived, and as the client gets it. */
interface Learned {
  arrived: Surroundings;
  /** The same surroundings if no byte is changed; undefined if the event is translated. */
  sent: Surroundings | undefined;
}

/** The last event of one stream that may be repeated. */
export class RepeatedText {
  #learned: Learned | undefined;
  #unused = 0;

  /**
   * The text in an event that is the learned one but for this text; undefined for every other event. The text
   * has no escapes, so that its bytes are its value.
   */
  textIn(event: Buffer): Buffer | undefined {
    if (!this.#learned) return undefined;
    const { before, after } = this.#learned.arrived;
    const end = event.length - after.length;
    if (end <= before.length || end - before.length > TEXT_BYTES) return undefined;
    if (event.compare(before, 0, before.length, 0, before.length) !== 0) return undefined;
    if (event.compare(after, 0, after.length, end) !== 0) return undefined;
    for (let at = before.length; at < end; at += 1) {
      const byte = event[at] ?? 0;
      if (byte < SPACE || byte === QUOTE || byte === BACKSLASH) return undefined;
    }
    this.#unused = 0;
    return event.subarray(before.length, end);
  }

  /** The repeating event as the client gets it. Undefined if it is translated. */
  sent(event: Buffer, text: Buffer): Buffer | undefined {
    if (!this.#learned?.sent) return undefined;
    const { arrived, sent } = this.#learned;
    if (sent === arrived) return event;
    const { before, after } = sent;
    const bytes = Buffer.allocUnsafe(before.length + text.length + after.length);
    bytes.set(before);
    bytes.set(text, before.length);
    bytes.set(after, before.length + text.length);
    return bytes;
  }

  /**
   * Learns an event whose member `name` holds this text. `sent` is what the client got of a mirrored event.
   * Learns nothing if the event does not show beyond doubt where its text is.
   */
  learn(event: Buffer, { name, text, sent }: { name: string; text: string; sent: Buffer | undefined }): void {
    this.forget();
    if (this.#unused >= UNUSED_MAX) return;
    this.#unused += 1;
    const arrived = surroundingsOf(event, name, text);
    if (!arrived) return;
    const own = sent && (sent === event ? arrived : surroundingsOf(sent, name, text));
    if (sent && !own) return;
    this.#learned = { arrived, sent: own };
  }

  /** Forgets the learned event. */
  forget(): void {
    this.#learned = undefined;
  }
}

/**
 * The bytes around the text of the only member with this name. Undefined if there are several such members,
 * or any escape: another spelling of the name or the text could then be meant.
 */
function surroundingsOf(event: Buffer, name: string, text: string): Surroundings | undefined {
  const scannable = textOf(event);
  const quotedName = `"${name}"`;
  const quotedText = textOf(Buffer.from(`"${text}"`));
  const at = scannable.indexOf(quotedName);
  if (at < 0 || scannable.includes('\\') || scannable.includes(quotedName, at + 1)) return undefined;
  const colon = skipSpace(scannable, at + quotedName.length);
  const start = skipSpace(scannable, colon + 1);
  const end = start + quotedText.length;
  if (scannable.charCodeAt(colon) !== COLON || !scannable.startsWith(quotedText, start)) return undefined;
  const around = ownJoined([event.subarray(0, start + 1), event.subarray(end - 1)]);
  return { before: around.subarray(0, start + 1), after: around.subarray(start + 1) };
}
