/** Changes inputs at random: bits, bytes, blocks, words of the format, numbers, and JSON values. */
import { mutateJson } from './mutate-json.ts';
import type { Random } from './random.ts';

/** Maximum size of an input, in bytes. */
export const INPUT_BYTES = 8 * 1024;
const MUTATIONS = 4;
const BLOCK_BYTES = 64;
const REPEATS = 200;
const NUMBERS = [
  '0',
  '-1',
  '1',
  '65536',
  '2147483648',
  '4294967296',
  '9007199254740993',
  '1e309',
  '-0',
  '0.5',
];
const BYTES = [0x00, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x2c, 0x3a, 0x5c, 0x7b, 0x7d, 0x80, 0xc3, 0xef, 0xff];

/** Source of the material for mutations. */
export interface Material {
  random: Random;
  tokens: readonly string[];
  /** Some other input of the corpus. */
  other(): Buffer;
}

/** A new input: some random changes of `input`. */
export function mutate(input: Buffer, material: Material): Buffer {
  const { random } = material;
  // A change of a JSON value reads and writes all of it, so it comes once and not with each other change.
  let bytes = random.oneIn(2) ? (mutateJson(input, material) ?? input) : input;
  if (bytes !== input && random.oneIn(2)) return cut(bytes);
  for (let left = 1 + random.below(MUTATIONS); left > 0; left -= 1) bytes = change(bytes, material);
  return cut(bytes);
}

function cut(bytes: Buffer): Buffer {
  return bytes.length > INPUT_BYTES ? bytes.subarray(0, INPUT_BYTES) : bytes;
}

type Change = (bytes: Buffer, material: Material) => Buffer;

const CHANGES: readonly Change[] = [
  flipBit,
  (bytes, { random }) => overwrite(bytes, random.below(bytes.length), [random.below(256)]),
  (bytes, { random }) => overwrite(bytes, random.below(bytes.length), [random.pick(BYTES)]),
  (bytes, { random }) => splice(bytes, random.below(bytes.length + 1), 0, Buffer.from([random.pick(BYTES)])),
  (bytes, { random }) => splice(bytes, random.below(bytes.length), 1 + random.below(3)),
  (bytes, { random }) => splice(bytes, random.below(bytes.length), 1 + random.below(BLOCK_BYTES)),
  copyBlock,
  repeatBlock,
  insertToken,
  insertToken,
  replaceToken,
  replaceNumber,
  join,
  (bytes, { random }) => bytes.subarray(0, random.below(bytes.length + 1)),
];

function change(bytes: Buffer, material: Material): Buffer {
  return material.random.pick(CHANGES)(bytes, material);
}

function flipBit(bytes: Buffer, { random }: Material): Buffer {
  const at = random.below(bytes.length);
  return overwrite(bytes, at, [(bytes[at] ?? 0) ^ (1 << random.below(8))]);
}

function overwrite(bytes: Buffer, at: number, values: readonly number[]): Buffer {
  return splice(bytes, at, values.length, Buffer.from(values));
}

/** Replaces `count` bytes. */
function splice(bytes: Buffer, at: number, count: number, added: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + count)]);
}

function someBlock(bytes: Buffer, random: Random): Buffer {
  const from = random.below(bytes.length);
  return bytes.subarray(from, from + 1 + random.below(BLOCK_BYTES));
}

function copyBlock(bytes: Buffer, { random }: Material): Buffer {
  return splice(bytes, random.below(bytes.length + 1), 0, someBlock(bytes, random));
}

/** Repeats a short block, which nests brackets deeply and makes long runs. */
function repeatBlock(bytes: Buffer, { random }: Material): Buffer {
  const block = someBlock(bytes, random).subarray(0, 1 + random.below(8));
  const repeated = Buffer.concat(Array.from({ length: 1 + random.below(REPEATS) }, () => block));
  return splice(bytes, random.below(bytes.length + 1), 0, repeated);
}

function insertToken(bytes: Buffer, { random, tokens }: Material): Buffer {
  if (tokens.length === 0) return bytes;
  return splice(bytes, random.below(bytes.length + 1), 0, Buffer.from(random.pick(tokens)));
}

/** Overwrites a word of letters with one of the format. */
function replaceToken(bytes: Buffer, { random, tokens }: Material): Buffer {
  const text = bytes.toString('latin1');
  const words = [...text.matchAll(/[\w.-]+/g)];
  if (words.length === 0 || tokens.length === 0) return bytes;
  const { index, 0: word } = random.pick(words);
  return splice(bytes, index, word.length, Buffer.from(random.pick(tokens)));
}

function replaceNumber(bytes: Buffer, { random }: Material): Buffer {
  const numbers = [...bytes.toString('latin1').matchAll(/-?\d+/g)];
  if (numbers.length === 0) return bytes;
  const { index, 0: number } = random.pick(numbers);
  const other = random.oneIn(2) ? random.pick(NUMBERS) : String(Number(number) + random.below(3) - 1);
  return splice(bytes, index, number.length, Buffer.from(other));
}

/** The beginning of one input and the end of another one. */
function join(bytes: Buffer, { random, other }: Material): Buffer {
  const end = other();
  return Buffer.concat([
    bytes.subarray(0, random.below(bytes.length + 1)),
    end.subarray(random.below(end.length + 1)),
  ]);
}
