/** Recorded traffic of providers as inputs of the fuzzer; none where there are no recordings. */
import { readRecordings } from '../recorded-traffic.ts';
import { INPUT_BYTES } from './mutate.ts';

/** Order of the formats in the first byte of an input. */
export const FORMATS = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'google-generate',
  'completions',
  'compact',
] as const;

/** Length of a recorded stream, in characters. Longer ones are read too seldom. */
const STREAM_LENGTH = 2_000;
const HALF = STREAM_LENGTH / 2;
const FIRST_LETTER = 'a'.charCodeAt(0);

/** The bodies of recorded requests. */
export function recordedRequests(): string[] {
  return readRecordings()
    .flatMap(({ request }) => (request ? [JSON.stringify(request.body)] : []))
    .filter(isShort);
}

/** The bodies of recorded requests after the letter of their format. */
export function recordedRequestsByFormat(): string[] {
  return readRecordings()
    .flatMap(({ wire, request }) => (request ? [letterOf(wire) + JSON.stringify(request.body)] : []))
    .filter(isShort);
}

/** Recorded whole answers after the letter of their format. */
export function recordedAnswers(): string[] {
  return readRecordings()
    .filter(({ response }) => response.sse === undefined)
    .map(({ wire, response }) => letterOf(wire) + JSON.stringify(response.body ?? null))
    .filter(isShort);
}

/** Recorded streams, of long ones only beginning and end, after the letter of their format. */
export function recordedStreams(): string[] {
  return readRecordings()
    .flatMap(({ wire, response }) => (response.sse === undefined ? [] : [letterOf(wire) + response.sse]))
    .map((text) => (text.length <= STREAM_LENGTH ? text : text.slice(0, HALF) + '\n\n' + text.slice(-HALF)));
}

/** The letter that begins an input of this format. */
export function letterOf(format: string): string {
  const index = FORMATS.findIndex((name) => name === format);
  return String.fromCharCode(FIRST_LETTER + Math.max(0, index));
}

/** The format that the first byte of an input names. */
export function formatOf(input: Buffer): (typeof FORMATS)[number] {
  return (
    FORMATS[((input[0] ?? 0) + FORMATS.length * FIRST_LETTER - FIRST_LETTER) % FORMATS.length] ?? FORMATS[0]
  );
}

function isShort(text: string): boolean {
  return Buffer.byteLength(text) <= INPUT_BYTES / 2;
}
