/** Event streams: our splitter finds the events that a second parser finds, wherever the bytes are cut. */
import { isDeepStrictEqual } from 'node:util';
import { FrameSplitter } from '../../../data-plane/exchange/frames.ts';
import type { SseFrame } from '../../../data-plane/dialects/sse.ts';
import { SseParser } from '../../sse-parser.ts';
import { recordedStreams } from '../recorded.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';

/** The first bytes of an input say where the rest is cut. */
const CUTS = 3;
const RECORDED_BYTES = 600;

export const target: FuzzTarget = {
  run(input) {
    const bytes = input.subarray(CUTS);
    const whole = split([bytes]);
    const cut = split(piecesOf(bytes, [...input.subarray(0, CUTS)]));
    demand(isDeepStrictEqual(cut.events, whole.events), 'the events depend on the cuts');
    for (const { frames } of [whole, cut]) checkBytes(frames, bytes);
    const parser = new SseParser();
    const expected = [...parser.push(bytes), ...parser.end()];
    demand(isDeepStrictEqual(whole.events, expected), 'a second parser reads other events');
  },
  seeds: [
    'abcdata: {"a":1}\n\ndata: [DONE]\n\n',
    'abcevent: message\r\ndata: one\r\ndata: two\r\n\r\n: comment\r\n\r\ndata:x',
    'abcevent: a\rdata\rdata:  b\r\rid: 1\nretry: 5\n\n',
    'abc\ufeffdata: é😀\n\n\n\n',
  ],
  tokens: [
    'data: ',
    'data:',
    'event: ',
    'id: ',
    ':',
    '\n\n',
    '\r\n\r\n',
    '\r\r',
    '\r',
    '\n',
    '\ufeff',
    '[DONE]',
  ],
  recorded: () => recordedStreams().map((text) => `ab${text.slice(0, RECORDED_BYTES)}`),
};

function split(chunks: readonly Buffer[]): { frames: Buffer[]; events: SseFrame[] } {
  const splitter = new FrameSplitter();
  const frames = chunks.flatMap((chunk) => splitter.push(chunk));
  const last = splitter.end();
  if (last) frames.push(last);
  const events = frames.flatMap((frame) => splitter.read(frame) ?? []);
  return { frames, events };
}

/** Pieces that end at shares of the whole length, down to pieces of single bytes. */
function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const [first = 0, ...rest] = cuts;
  if (first === 0) return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
  const places = [first, ...rest].map((cut) => Math.floor((cut * bytes.length) / 256));
  places.sort((one, other) => one - other);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}

/** The frames are the bytes of the stream without a change. Only line ends at its end may be left out. */
function checkBytes(frames: readonly Buffer[], bytes: Buffer): void {
  const joined = Buffer.concat(frames);
  demand(bytes.subarray(0, joined.length).equals(joined), 'the frames are other bytes than the stream');
  const rest = bytes.subarray(joined.length).toString('latin1');
  demand(/^[\r\n]*$/.test(rest), 'the end of the stream is lost');
}
