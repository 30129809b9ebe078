/** Frames of the journal byte by byte: round trips, interrupted writes and damage. */
import { expect, test } from 'vitest';
import { PAYLOAD_MAX, encodeFrame, frameLength, readFrame } from './frames.ts';

const HEADER_BYTES = 16;

test('a frame has a header with its magic and length, and decodes to the same lines', () => {
  const lines = ['{"a":1}', '{"b":"ü€"}'];
  const bytes = encodeFrame(7, lines);
  const payload = Buffer.byteLength(lines.join('\n'));
  expect(bytes.length).toBe(HEADER_BYTES + payload);
  expect([...bytes.subarray(0, 4)]).toEqual([0, 0x47, 0x57, 0x4a]);
  expect(frameLength(bytes, 0)).toBe(bytes.length);
  const end = bytes.length;
  expect(readFrame(bytes, 0, 7)).toEqual({ kind: 'frame', frame: { group: 7, lines, end } });
});

test('a frame is read at its offset and ends where the next one starts', () => {
  const [one, two] = [encodeFrame(0, ['one']), encodeFrame(1, ['two'])];
  const bytes = Buffer.concat([one, two]);
  expect(readFrame(bytes, one.length, 1)).toEqual({
    kind: 'frame',
    frame: { group: 1, lines: ['two'], end: bytes.length },
  });
  expect(frameLength(bytes, one.length)).toBe(two.length);
});

test('a valid frame with an unexpected group number is damage', () => {
  const bytes = encodeFrame(3, ['three']);
  for (const group of [2, 4]) expect(readFrame(bytes, 0, group)).toEqual({ kind: 'damaged' });
});

test('an empty rest or a part of a frame is the end of the journal', () => {
  const bytes = encodeFrame(0, ['one']);
  for (let cut = 0; cut < bytes.length; cut += 1)
    expect(readFrame(bytes.subarray(0, cut), 0, 0)).toEqual({ kind: 'end' });
  expect(readFrame(bytes, bytes.length, 1)).toEqual({ kind: 'end' });
});

test('a broken frame is damage if a valid frame follows anywhere behind it', () => {
  const broken = encodeFrame(0, ['one']);
  broken[HEADER_BYTES] = (broken[HEADER_BYTES] ?? 0) ^ 1;
  const whole = encodeFrame(1, ['two']);
  expect(readFrame(broken, 0, 0)).toEqual({ kind: 'end' });
  expect(readFrame(Buffer.concat([broken, whole]), 0, 0)).toEqual({ kind: 'damaged' });
  // A single leftover byte, and magics without a frame, before the valid frame.
  expect(readFrame(Buffer.concat([Buffer.from([0]), whole]), 0, 0)).toEqual({ kind: 'damaged' });
  const magic = whole.subarray(0, 4);
  expect(readFrame(Buffer.concat([broken, magic, magic, whole]), 0, 0)).toEqual({ kind: 'damaged' });
  // A magic alone, an interrupted frame and another broken frame are not valid frames.
  for (const rest of [magic, whole.subarray(0, -1), broken])
    expect(readFrame(Buffer.concat([broken, rest]), 0, 0)).toEqual({ kind: 'end' });
  // Frames before the offset do not matter.
  expect(readFrame(Buffer.concat([whole, broken]), whole.length, 0)).toEqual({ kind: 'end' });
});

test('the length is known only from a complete header at the offset', () => {
  const empty = encodeFrame(0, ['']);
  expect(empty.length).toBe(HEADER_BYTES);
  expect(frameLength(empty, 0)).toBe(HEADER_BYTES);
  expect(frameLength(empty.subarray(0, HEADER_BYTES - 1), 0)).toBeUndefined();
  expect(frameLength(Buffer.alloc(HEADER_BYTES), 0)).toBeUndefined();
  expect(frameLength(Buffer.concat([Buffer.alloc(1), empty]), 0)).toBeUndefined();
});

test('a payload up to the maximum is written and read; a larger one is neither', () => {
  const largest = encodeFrame(0, ['x'.repeat(PAYLOAD_MAX)]);
  expect(frameLength(largest, 0)).toBe(HEADER_BYTES + PAYLOAD_MAX);
  expect(readFrame(largest, 0, 0).kind).toBe('frame');
  expect(() => encodeFrame(0, ['x'.repeat(PAYLOAD_MAX + 1)])).toThrow('too large');
  largest.writeUInt32LE(PAYLOAD_MAX + 1, 4);
  expect(frameLength(largest, 0)).toBeUndefined();
});
