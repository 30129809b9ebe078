/** Frames of the journal to the byte: what is read back, what is a cut tail, what is damage. */
import { expect, test } from 'vitest';
import { PAYLOAD_MAX, encodeFrame, frameLength, readFrame } from './frames.ts';

const HEADER_BYTES = 16;

test('a frame is its header and its payload, begins with its mark, and is read back as it was', () => {
  const lines = ['{"a":1}', '{"b":"ü€"}'];
  const bytes = encodeFrame(7, lines);
  const payload = Buffer.byteLength(lines.join('\n'));
  expect(bytes.length).toBe(HEADER_BYTES + payload);
  expect([...bytes.subarray(0, 4)]).toEqual([0, 0x47, 0x57, 0x4a]);
  expect(frameLength(bytes, 0)).toBe(bytes.length);
  const end = bytes.length;
  expect(readFrame(bytes, 0, 7)).toEqual({ kind: 'frame', frame: { group: 7, lines, end } });
});

test('a frame is read where it stands, and ends where the next one begins', () => {
  const [one, two] = [encodeFrame(0, ['one']), encodeFrame(1, ['two'])];
  const bytes = Buffer.concat([one, two]);
  expect(readFrame(bytes, one.length, 1)).toEqual({
    kind: 'frame',
    frame: { group: 1, lines: ['two'], end: bytes.length },
  });
  expect(frameLength(bytes, one.length)).toBe(two.length);
});

test('a whole frame of another number is damage: one before it is missing, or stands twice', () => {
  const bytes = encodeFrame(3, ['three']);
  for (const group of [2, 4]) expect(readFrame(bytes, 0, group)).toEqual({ kind: 'damaged' });
});

test('nothing more, or a part of a frame, is the end', () => {
  const bytes = encodeFrame(0, ['one']);
  for (let cut = 0; cut < bytes.length; cut += 1)
    expect(readFrame(bytes.subarray(0, cut), 0, 0)).toEqual({ kind: 'end' });
  expect(readFrame(bytes, bytes.length, 1)).toEqual({ kind: 'end' });
});

test('a broken frame with a whole one behind it is damage, wherever that one stands', () => {
  const broken = encodeFrame(0, ['one']);
  broken[HEADER_BYTES] = (broken[HEADER_BYTES] ?? 0) ^ 1;
  const whole = encodeFrame(1, ['two']);
  expect(readFrame(broken, 0, 0)).toEqual({ kind: 'end' });
  expect(readFrame(Buffer.concat([broken, whole]), 0, 0)).toEqual({ kind: 'damaged' });
  // One byte of rest, and a mark that leads nowhere in front of it.
  expect(readFrame(Buffer.concat([Buffer.from([0]), whole]), 0, 0)).toEqual({ kind: 'damaged' });
  const mark = whole.subarray(0, 4);
  expect(readFrame(Buffer.concat([broken, mark, mark, whole]), 0, 0)).toEqual({ kind: 'damaged' });
  // A mark alone is no frame, nor is one whose payload was cut, nor one that is broken itself.
  for (const rest of [mark, whole.subarray(0, -1), broken])
    expect(readFrame(Buffer.concat([broken, rest]), 0, 0)).toEqual({ kind: 'end' });
  // What stands before the place that is read is no matter.
  expect(readFrame(Buffer.concat([whole, broken]), whole.length, 0)).toEqual({ kind: 'end' });
});

test('a header alone, cut at its last byte or of no length, is told from nothing', () => {
  const empty = encodeFrame(0, ['']);
  expect(empty.length).toBe(HEADER_BYTES);
  expect(frameLength(empty, 0)).toBe(HEADER_BYTES);
  expect(frameLength(empty.subarray(0, HEADER_BYTES - 1), 0)).toBeUndefined();
  expect(frameLength(Buffer.alloc(HEADER_BYTES), 0)).toBeUndefined();
  expect(frameLength(Buffer.concat([Buffer.alloc(1), empty]), 0)).toBeUndefined();
});

test('the largest payload is written and read; a larger one is neither', () => {
  const largest = encodeFrame(0, ['x'.repeat(PAYLOAD_MAX)]);
  expect(frameLength(largest, 0)).toBe(HEADER_BYTES + PAYLOAD_MAX);
  expect(readFrame(largest, 0, 0).kind).toBe('frame');
  expect(() => encodeFrame(0, ['x'.repeat(PAYLOAD_MAX + 1)])).toThrow('too large');
  largest.writeUInt32LE(PAYLOAD_MAX + 1, 4);
  expect(frameLength(largest, 0)).toBeUndefined();
});
