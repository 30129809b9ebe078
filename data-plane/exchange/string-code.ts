/**
 * Instructions that find the end of a JSON string, 16 bytes at a time, with SIMD instructions of WebAssembly.
 */
import {
  AT,
  BACKSLASHES,
  CARRY,
  ENDS,
  ESCAPED,
  HEX_AT,
  HIGH_HALVES_AT,
  INSIDE,
  IS_ESCAPED,
  LOW_HALVES_AT,
  NUMBERS,
  PATTERNS_AT,
  RUNS,
  UNICODE,
} from './scan-memory.ts';
import {
  add,
  and,
  blockAt,
  both,
  byteAt,
  constant,
  either,
  get,
  give,
  hasAny,
  highBits,
  increase,
  isZero,
  leave,
  less,
  lookUp,
  lowestBit,
  multiply,
  or,
  repeat,
  repeated,
  repeatedByteAt,
  repeatedPairAt,
  repeatedly,
  same,
  samePairs,
  set,
  shiftBytesRight,
  shiftLeft,
  shiftRight,
  subtract,
  when,
  xor,
} from './webassembly.ts';
import type { Code } from './webassembly.ts';

const BLOCK_BYTES = 16;
/** The block, and where two bytes of it in a row begin envelopes. */
const BLOCK = NUMBERS;
const PAIRS = BLOCK + 1;
/** Blocks with a bit for everything that was found in any string so far. */
export const HITS = BLOCK + 2;
export const BYTES_SO_FAR = BLOCK + 3;
/** The variables that hold the first two bytes of envelopes eight times. */
const [GW, Z3] = [BLOCK + 4, BLOCK + 5];
/** The variables that hold one byte of `PATTERNS` 16 times. */
const FIRST_PATTERN = BLOCK + 6;
/**
 * The bytes that end a string or a run of plain bytes, the first three bytes of envelopes, plain (gws…) and
 * in base64 (Z3d…), and the name of an escape sequence.
 */
const PATTERNS = '"\\ gwsZ3du';
const [QUOTE, BACKSLASH, SPACE, G, W, S, Z, THREE, D, U] = Array.from(PATTERNS, (_, index) =>
  get(FIRST_PATTERN + index),
) as [Code, Code, Code, Code, Code, Code, Code, Code, Code, Code];
/** Number of blocks among the variables. */
export const BLOCKS = 6 + PATTERNS.length;

const ZERO = constant(0);
const ONE = constant(1);
const not = (mask: Code): Code => xor(mask, constant(-1));
const maskOf = (pattern: Code): Code => highBits(same(get(BLOCK), pattern));

/** Where three bytes in a row begin in the block. */
const three = (first: Code, second: Code, third: Code): Code =>
  both(same(get(BLOCK), first), both(same(blockAt(get(AT), 1), second), same(blockAt(get(AT), 2), third)));
/** Where two bytes in a row are these, which are one number of two bytes: in either place of such numbers. */
const two = (pair: number): Code =>
  either(samePairs(get(BLOCK), get(pair)), samePairs(blockAt(get(AT), 1), get(pair)));
/** Where the block has a control character. */
const controls = less(get(BLOCK), SPACE);
/** Where the block has anything but plain bytes. */
const stops = either(either(same(get(BLOCK), QUOTE), same(get(BLOCK), BACKSLASH)), controls);

/** Every second bit of a block. */
const ODD_BITS = constant(0xaaaa);
const ALL_BITS = constant(0xffff);
/**
 * Of a run of backslashes, every second one is escaped, and so is the byte after an odd run. The subtraction
 * carries each run to its end. The method is that of simdjson: https://arxiv.org/abs/1902.08318
 */
const findEscaped: Code = [
  set(RUNS, and(get(BACKSLASHES), not(get(CARRY)))),
  set(RUNS, xor(subtract(or(shiftLeft(get(RUNS), ONE), ODD_BITS), get(RUNS)), ODD_BITS)),
  set(ESCAPED, and(xor(get(RUNS), or(get(BACKSLASHES), get(CARRY))), ALL_BITS)),
  set(CARRY, and(shiftRight(and(get(RUNS), get(BACKSLASHES)), constant(BLOCK_BYTES - 1)), ONE)),
].flat();

/** Where the block has a byte that never follows a backslash. */
const otherThanEscapes = highBits(
  same(
    both(
      lookUp(blockAt(ZERO, LOW_HALVES_AT), both(get(BLOCK), repeated(constant(15)))),
      lookUp(blockAt(ZERO, HIGH_HALVES_AT), shiftBytesRight(get(BLOCK), constant(4))),
    ),
    repeated(ZERO),
  ),
);

/** 1 if the four bytes after the first `u` are hexadecimal digits. */
const isHexAfter = (offset: number): Code =>
  byteAt(byteAt(add(get(AT), lowestBit(get(UNICODE))), offset), HEX_AT);
const areHex = [2, 3, 4].reduce((code, offset) => multiply(code, isHexAfter(offset)), isHexAfter(1));

/** Gives 0 if the string has an invalid escape sequence in this block. */
const checkEscapes: Code = [
  set(IS_ESCAPED, or(get(IS_ESCAPED), and(get(ESCAPED), get(INSIDE)))),
  when(and(and(get(ESCAPED), otherThanEscapes), get(INSIDE)), give(ZERO)),
  set(UNICODE, and(and(get(ESCAPED), maskOf(U)), get(INSIDE))),
  repeatedly(
    when(isZero(get(UNICODE)), leave(1)),
    when(isZero(areHex), give(ZERO)),
    set(UNICODE, and(get(UNICODE), subtract(get(UNICODE), ONE))),
    repeat(0),
  ),
].flat();

const nextBlock = increase(AT, constant(BLOCK_BYTES));

/** Reads the patterns. */
export const BEFORE_STRINGS: Code = [
  ...Array.from(PATTERNS, (_, index) =>
    set(FIRST_PATTERN + index, repeatedByteAt(ZERO, PATTERNS_AT + index)),
  ),
  set(GW, repeatedPairAt(ZERO, PATTERNS_AT + PATTERNS.indexOf('gw'))),
  set(Z3, repeatedPairAt(ZERO, PATTERNS_AT + PATTERNS.indexOf('Z3'))),
].flat();

/**
 * Sets AT from the first character of a string to the quote that ends the string. Gives 0 if the string is no
 * valid JSON; the bytes must be UTF-8. Sets IS_ESCAPED. Sets HITS if the string may hold an envelope, and the
 * high bits of BYTES_SO_FAR if there is a byte beyond ASCII.
 */
export const END_OF_STRING: Code = [
  set(CARRY, ZERO),
  set(IS_ESCAPED, ZERO),
  repeatedly(
    set(BLOCK, blockAt(get(AT), 0)),
    set(BYTES_SO_FAR, either(get(BYTES_SO_FAR), get(BLOCK))),
    set(PAIRS, either(two(GW), two(Z3))),
    // Most blocks have nothing of interest.
    when(isZero(or(highBits(either(stops, get(PAIRS))), get(CARRY))), nextBlock, repeat(1)),
    when(hasAny(get(PAIRS)), set(HITS, either(get(HITS), either(three(G, W, S), three(Z, THREE, D))))),
    set(BACKSLASHES, maskOf(BACKSLASH)),
    set(ENDS, maskOf(QUOTE)),
    set(ESCAPED, ZERO),
    when(or(get(BACKSLASHES), get(CARRY)), findEscaped, set(ENDS, and(get(ENDS), not(get(ESCAPED))))),
    // The bits below the lowest one of ENDS; all bits if there is none.
    set(INSIDE, and(subtract(get(ENDS), ONE), not(get(ENDS)))),
    when(and(highBits(controls), get(INSIDE)), give(ZERO)),
    when(get(ESCAPED), checkEscapes),
    when(get(ENDS), increase(AT, lowestBit(get(ENDS))), leave(1)),
    nextBlock,
    repeat(0),
  ),
].flat();

/** Writes what `END_OF_STRING` looks up. */
export function writeStringTables(memory: Buffer): void {
  for (const digit of '0123456789abcdefABCDEF') memory[HEX_AT + digit.charCodeAt(0)] = 1;
  memory.write(PATTERNS, PATTERNS_AT, 'latin1');
  for (const name of '"\\/bfnrtu') {
    const code = name.charCodeAt(0);
    const [low, high] = [LOW_HALVES_AT + (code & 15), HIGH_HALVES_AT + (code >> 4)];
    memory[low] = (memory[low] ?? 0) | (1 << (code >> 4));
    memory[high] = 1 << (code >> 4);
  }
}
