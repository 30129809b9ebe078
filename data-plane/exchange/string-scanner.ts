/**
 * Finds the ends of JSON strings, 16 bytes at a time, with SIMD instructions of WebAssembly. The function is
 * written here, so that it needs no compiler and no binary file.
 */
import { OUTLINED_BYTES } from '../limits.ts';
import {
  I32,
  V128,
  add,
  and,
  blockAt,
  both,
  byteAt,
  constant,
  either,
  get,
  hasAny,
  highBits,
  isZero,
  leave,
  less,
  lookUp,
  lowestBit,
  moduleOf,
  multiply,
  or,
  repeat,
  repeated,
  repeatedByteAt,
  repeatedly,
  same,
  set,
  setByte,
  shiftBytesRight,
  shiftLeft,
  shiftRight,
  subtract,
  when,
  xor,
} from './webassembly.ts';
import type { Code } from './webassembly.ts';

/** The memory of the module, and its one function. */
export interface StringScanner {
  /** The text to scan begins at `TEXT_AT`. `PADDING_BYTES` of quotes must follow it. */
  memory: Buffer;
  /**
   * The position of the quote that ends the string whose first character is at `at`; -1 if the string is no
   * valid JSON. The bytes must be UTF-8. Writes 1 to `ENVELOPE_AT` if the string may hold an envelope of
   * seals.ts.
   */
  endOf: (at: number) => number;
}

/** The part of the global that is used here: the types of Node.js lack it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => {
    exports: { memory: { buffer: ArrayBuffer }; endOf: StringScanner['endOf'] };
  };
};

/** For each byte: 1 if it is a hexadecimal digit. */
const HEX_AT = 0;
/** The bytes of `PATTERNS`. */
const PATTERNS_AT = 256;
/** For each low and high half of a byte, one bit for each high half with which it follows a backslash. */
const LOW_HALVES_AT = 272;
const HIGH_HALVES_AT = 288;
/** See `StringScanner`. */
export const ENVELOPE_AT = 320;
export const TEXT_AT = 1_024;
/** The scanner reads up to 18 bytes after the end of the text, and an escape may begin with its last byte. */
export const PADDING_BYTES = 64;
const PAGE_BYTES = 65_536;
const BLOCK_BYTES = 16;

/** The function's variables. Of a mask, bit n stands for byte n of the block. */
const AT = 0;
const BACKSLASHES = 1;
/** 1 if the block before ends with a backslash that escapes the first byte of this one. */
const CARRY = 2;
const RUNS = 3;
const ESCAPED = 4;
const ENDS = 5;
/** The bytes before the end of the string. */
const INSIDE = 6;
/** The names `u` of escape sequences such as `\u00e9`. */
const UNICODE = 7;
const BLOCK = 8;
const HITS = 9;
/** The variables that hold one byte of `PATTERNS` 16 times. */
const [QUOTE, BACKSLASH, SPACE, G, W, S, Z, THREE, D, U] = [10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
/**
 * The bytes that end a string or a run of plain bytes, the first three bytes of envelopes, plain (gws…) and
 * in base64 (Z3d…), and the name of an escape sequence.
 */
const PATTERNS = '"\\ gwsZ3du';

const ZERO = constant(0);
const ONE = constant(1);
const not = (mask: Code): Code => xor(mask, constant(-1));
const maskOf = (pattern: number): Code => highBits(same(get(BLOCK), get(pattern)));

/** Where three bytes in a row begin in the block. */
const three = (first: number, second: number, third: number): Code =>
  both(
    same(get(BLOCK), get(first)),
    both(same(blockAt(get(AT), 1), get(second)), same(blockAt(get(AT), 2), get(third))),
  );
/** Where the block has a control character. */
const controls = less(get(BLOCK), get(SPACE));
/** Where the block has anything but plain bytes. */
const stops = either(either(same(get(BLOCK), get(QUOTE)), same(get(BLOCK), get(BACKSLASH))), controls);

/** Every second bit of a block. */
const ODD_BITS = constant(0xaaaa);
const ALL_BITS = constant(0xffff);
/**
 * Of a run of backslashes, every second one is escaped, and so is the byte after an odd run. The subtraction
 * carries each run to its end. The method is that of simdjson: https://arxiv.org/abs/1902.08318
 */
const findEscaped: Code = [
  set(BACKSLASHES, maskOf(BACKSLASH)),
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

const END_OF: Code = [
  [...PATTERNS].flatMap((_, index) => set(QUOTE + index, repeatedByteAt(ZERO, PATTERNS_AT + index))),
  repeatedly(
    set(BLOCK, blockAt(get(AT), 0)),
    set(HITS, either(get(HITS), either(three(G, W, S), three(Z, THREE, D)))),
    when(isZero(or(highBits(stops), get(CARRY))), set(AT, add(get(AT), constant(BLOCK_BYTES))), repeat(1)),
    findEscaped,
    set(ENDS, and(maskOf(QUOTE), not(get(ESCAPED)))),
    // The lowest bit of ENDS, or the bit after the block, and all bits below it; then without that bit.
    set(INSIDE, or(get(ENDS), constant(1 << BLOCK_BYTES))),
    set(INSIDE, and(subtract(get(INSIDE), ONE), not(get(INSIDE)))),
    when(
      and(or(highBits(controls), and(get(ESCAPED), otherThanEscapes)), get(INSIDE)),
      set(AT, constant(-1)),
      leave(1),
    ),
    set(UNICODE, and(and(get(ESCAPED), maskOf(U)), get(INSIDE))),
    repeatedly(
      when(isZero(get(UNICODE)), leave(1)),
      when(isZero(areHex), set(AT, constant(-1)), leave(3)),
      set(UNICODE, and(get(UNICODE), subtract(get(UNICODE), ONE))),
      repeat(0),
    ),
    when(get(ENDS), set(AT, add(get(AT), lowestBit(get(ENDS)))), leave(1)),
    set(AT, add(get(AT), constant(BLOCK_BYTES))),
    repeat(0),
  ),
  when(hasAny(get(HITS)), setByte(ZERO, ENVELOPE_AT, ONE)),
  get(AT),
].flat();

const MODULE = moduleOf({
  pages: Math.ceil((TEXT_AT + OUTLINED_BYTES + PADDING_BYTES) / PAGE_BYTES),
  function: 'endOf',
  variables: [
    [UNICODE - AT, I32],
    [U - UNICODE, V128],
  ],
  code: END_OF,
});

/** A scanner with its own memory; undefined where SIMD instructions of WebAssembly are not available. */
export function newStringScanner(): StringScanner | undefined {
  try {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(MODULE));
    const memory = Buffer.from(exports.memory.buffer);
    writeTables(memory);
    return { memory, endOf: exports.endOf };
  } catch {
    // An old processor, or too little address space: all bodies are then parsed whole.
    return undefined;
  }
}

function writeTables(memory: Buffer): void {
  for (const digit of '0123456789abcdefABCDEF') memory[HEX_AT + digit.charCodeAt(0)] = 1;
  memory.write(PATTERNS, PATTERNS_AT, 'latin1');
  for (const name of '"\\/bfnrtu') {
    const code = name.charCodeAt(0);
    const [low, high] = [LOW_HALVES_AT + (code & 15), HIGH_HALVES_AT + (code >> 4)];
    memory[low] = (memory[low] ?? 0) | (1 << (code >> 4));
    memory[high] = 1 << (code >> 4);
  }
}
