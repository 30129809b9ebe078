/**
 * Encodes and decodes the bytes of a journal segment: one frame per group commit.
 * A frame is magic (4 bytes) · length (4) · group number (4) · CRC32 over length, group and payload (4) ·
 * payload: JSON lines, some of which end with a comma. A frame is written only after the previous one was
 * synced. So a bad frame before a good one is not an interrupted write: durable data is damaged.
 */
import { crc32 } from 'node:zlib';

/** Starts with NUL, which JSON text never contains, so a payload cannot look like a frame. */
const MAGIC = Buffer.from([0x00, 0x47, 0x57, 0x4a]);
const HEADER_BYTES = 16;
/** End of a line. The comma is not part of the record: no JSON text ends with one. */
const LINE_END = /,?\n/;
/** Maximum payload in bytes: room for the checkpoint of a journal with 150,000 open leases. */
export const PAYLOAD_MAX = 32 * 1024 * 1024;

export interface Frame {
  group: number;
  lines: string[];
  /** Offset of the byte after the frame. */
  end: number;
}
export type Reading =
  | { kind: 'frame'; frame: Frame }
  /** End of the data, or of an interrupted write. */
  | { kind: 'end' }
  | { kind: 'damaged' };

/** Encodes JSON lines as a frame, inside `buffer` if the frame fits. Throws if the frame is too large. */
export function encodeFrame(group: number, lines: readonly string[], buffer?: Buffer): Buffer {
  const payload = lines.join('\n');
  const length = Buffer.byteLength(payload);
  if (length > PAYLOAD_MAX) throw new Error('a group of records is too large for one frame');
  const whole = HEADER_BYTES + length;
  const frame = buffer && buffer.length >= whole ? buffer.subarray(0, whole) : Buffer.allocUnsafe(whole);
  MAGIC.copy(frame);
  frame.writeUInt32LE(length, 4);
  frame.writeUInt32LE(group, 8);
  frame.write(payload, HEADER_BYTES);
  frame.writeUInt32LE(checksumOf(frame), 12);
  return frame;
}

/** Reads the frame at an offset, and distinguishes an interrupted write from damage. Never throws. */
export function readFrame(bytes: Buffer, offset: number, group: number): Reading {
  const frame = validFrame(bytes, offset);
  if (frame) return frame.group === group ? { kind: 'frame', frame } : { kind: 'damaged' };
  for (let at = bytes.indexOf(MAGIC, offset + 1); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    if (validFrame(bytes, at)) return { kind: 'damaged' };
  }
  return { kind: 'end' };
}

/** Length in bytes of the frame at an offset, by its header; undefined if there is no valid header. */
export function frameLength(bytes: Buffer, offset: number): number | undefined {
  if (offset + HEADER_BYTES > bytes.length || bytes.compare(MAGIC, 0, 4, offset, offset + 4) !== 0)
    return undefined;
  const length = bytes.readUInt32LE(offset + 4);
  return length <= PAYLOAD_MAX ? HEADER_BYTES + length : undefined;
}

function validFrame(bytes: Buffer, offset: number): Frame | undefined {
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
