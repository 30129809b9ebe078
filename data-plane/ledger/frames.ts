/**
 * The bytes of a journal segment: one frame per group commit.
 * A frame is magic (4) · length (4) · group (4) · CRC32 over length, group and payload (4) · payload: JSON
 * lines, some of which end with a comma. A frame is written only after the one before it was synced. So a
 * bad frame with a good one behind it cannot be a write that was cut: it is damage to something that had
 * been promised.
 */
import { crc32 } from 'node:zlib';

/** Begins with a NUL, which JSON text never contains: a payload cannot look like a frame. */
const MAGIC = Buffer.from([0x00, 0x47, 0x57, 0x4a]);
const HEADER_BYTES = 16;
/** No JSON text ends with a comma. */
const LINE_END = /,?\n/;
/** The largest payload, in bytes: a book of 150,000 open leases, which stands at the head of a segment. */
export const PAYLOAD_MAX = 32 * 1024 * 1024;

export interface Frame {
  group: number;
  lines: string[];
  end: number;
}
export type Reading =
  | { kind: 'frame'; frame: Frame }
  /** Nothing more, or the rest of a write that was cut. */
  | { kind: 'end' }
  | { kind: 'damaged' };

/** One frame of one or more JSON lines, in the room that is given where it fits there. */
export function encodeFrame(group: number, lines: readonly string[], room?: Buffer): Buffer {
  const payload = lines.join('\n');
  const length = Buffer.byteLength(payload);
  if (length > PAYLOAD_MAX) throw new Error('a group of records is too large for one frame');
  const whole = HEADER_BYTES + length;
  const frame = room && room.length >= whole ? room.subarray(0, whole) : Buffer.allocUnsafe(whole);
  MAGIC.copy(frame);
  frame.writeUInt32LE(length, 4);
  frame.writeUInt32LE(group, 8);
  frame.write(payload, HEADER_BYTES);
  frame.writeUInt32LE(checksumOf(frame), 12);
  return frame;
}

/** Reads the frame of the given group number at an offset; tells a cut tail from damage. Never throws. */
export function readFrame(bytes: Buffer, offset: number, group: number): Reading {
  const frame = goodFrame(bytes, offset);
  if (frame) return frame.group === group ? { kind: 'frame', frame } : { kind: 'damaged' };
  for (let at = bytes.indexOf(MAGIC, offset + 1); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    if (goodFrame(bytes, at)) return { kind: 'damaged' };
  }
  return { kind: 'end' };
}

/** How many bytes the frame at an offset has by its own header, or undefined when no header is there. */
export function frameLength(bytes: Buffer, offset: number): number | undefined {
  if (offset + HEADER_BYTES > bytes.length || bytes.compare(MAGIC, 0, 4, offset, offset + 4) !== 0)
    return undefined;
  const length = bytes.readUInt32LE(offset + 4);
  return length <= PAYLOAD_MAX ? HEADER_BYTES + length : undefined;
}

function goodFrame(bytes: Buffer, offset: number): Frame | undefined {
  const length = frameLength(bytes, offset);
  if (length === undefined || offset + length > bytes.length) return undefined;
  const whole = bytes.subarray(offset, offset + length);
  if (whole.readUInt32LE(12) !== checksumOf(whole)) return undefined;
  const lines = whole.toString('utf8', HEADER_BYTES).split(LINE_END);
  return { group: whole.readUInt32LE(8), lines, end: offset + length };
}

function checksumOf(frame: Buffer): number {
  return crc32(frame.subarray(HEADER_BYTES), crc32(frame.subarray(4, 12)));
}
