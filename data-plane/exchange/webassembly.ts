/**
 * Writes functions of WebAssembly, instruction by instruction. An expression is the list of its bytes:
 * operands first, then the operator. `get(x)`, `add(x, y)` and so on leave one value; `set`, `when` and
 * `repeatedly` leave none. Blocks are vectors of 16 bytes.
 * https://webassembly.github.io/spec/core/binary/instructions.html
 */

/** Bytes of WebAssembly. */
export type Code = readonly number[];

/** The types of variables. */
export const I32 = 0x7f;
export const V128 = 0x7b;

/** Writes a whole number from 0 as LEB128. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...unsigned(Math.floor(value / 128))];
}

/** Writes a whole number of 32 bits as signed LEB128. */
function signed(value: number): number[] {
  const isLast = value >= -64 && value < 64;
  return isLast ? [value & 127] : [(value & 127) + 128, ...signed(value >> 7)];
}

const vector = (...code: number[]): Code => [0xfd, ...code];

/** The value of a variable. */
export const get = (variable: number): Code => [0x20, variable];
/** Sets a variable. */
export const set = (variable: number, value: Code): Code => [...value, 0x21, variable];
/** A number. */
export const constant = (value: number): Code => [0x41, ...signed(value)];
/** The sum of two numbers. */
export const add = (one: Code, other: Code): Code => [...one, ...other, 0x6a];
/** The difference of two numbers. */
export const subtract = (one: Code, other: Code): Code => [...one, ...other, 0x6b];
/** Adds a number to a variable. */
export const increase = (variable: number, by: Code): Code => set(variable, add(get(variable), by));
/** The product of two numbers. */
export const multiply = (one: Code, other: Code): Code => [...one, ...other, 0x6c];
/** The bits of both numbers. */
export const and = (one: Code, other: Code): Code => [...one, ...other, 0x71];
/** The bits of either number. */
export const or = (one: Code, other: Code): Code => [...one, ...other, 0x72];
/** The bits of only one of the numbers. */
export const xor = (one: Code, other: Code): Code => [...one, ...other, 0x73];
/** The number with its bits moved up. */
export const shiftLeft = (value: Code, bits: Code): Code => [...value, ...bits, 0x74];
/** The number with its bits moved down. */
export const shiftRight = (value: Code, bits: Code): Code => [...value, ...bits, 0x76];
/** 1 if the number is 0, else 0. */
export const isZero = (value: Code): Code => [...value, 0x45];
/** 1 if the numbers are equal, else 0. */
export const equal = (one: Code, other: Code): Code => [...one, ...other, 0x46];
/** 1 if the first number is less than the other, as numbers without a sign, else 0. */
export const isBelow = (one: Code, other: Code): Code => [...one, ...other, 0x49];
/** 1 if the first number is greater than the other, as numbers without a sign, else 0. */
export const isAbove = (one: Code, other: Code): Code => [...one, ...other, 0x4b];
/** The place of the lowest bit that is set. */
export const lowestBit = (value: Code): Code => [...value, 0x68];
/** The byte at `offset` bytes after the address. */
export const byteAt = (address: Code, offset: number): Code => [...address, 0x2d, 0, ...unsigned(offset)];
/** The block at `offset` bytes after the address. */
export const blockAt = (address: Code, offset: number): Code => [
  ...address,
  ...vector(0x00, 0, ...unsigned(offset)),
];
/** A block of 16 times the byte at `offset` bytes after the address. */
export const repeatedByteAt = (address: Code, offset: number): Code => [
  ...address,
  ...vector(0x07, 0, ...unsigned(offset)),
];
/** Writes the byte at `offset` bytes after the address. */
export const setByte = (address: Code, offset: number, value: Code): Code => [
  ...address,
  ...value,
  ...[0x3a, 0, ...unsigned(offset)],
];

/** The number of four bytes at `offset` bytes after the address. */
export const numberAt = (address: Code, offset: number): Code => [
  ...address,
  ...[0x28, 2, ...unsigned(offset)],
];
/** Writes the number as four bytes at `offset` bytes after the address. */
export const setNumber = (address: Code, offset: number, value: Code): Code => [
  ...address,
  ...value,
  ...[0x36, 2, ...unsigned(offset)],
];
/** Writes the block at `offset` bytes after the address. */
export const setBlock = (address: Code, offset: number, block: Code): Code => [
  ...address,
  ...block,
  ...vector(0x0b, 0, ...unsigned(offset)),
];
/** Copies bytes from one address to another. */
export const copyBytes = (to: Code, from: Code, count: Code): Code => [
  ...to,
  ...from,
  ...count,
  ...[0xfc, 0x0a, 0, 0],
];

/** A block of eight times the two bytes at `offset` bytes after the address. */
export const repeatedPairAt = (address: Code, offset: number): Code => [
  ...address,
  ...vector(0x08, 0, ...unsigned(offset)),
];

/** A block of 16 times the number. */
export const repeated = (value: Code): Code => [...value, ...vector(0x0f)];
/** 255 for each byte that is the same in both blocks, else 0. */
export const same = (one: Code, other: Code): Code => [...one, ...other, ...vector(0x23)];
/** Two times 255 for each two bytes, from an even place on, that are the same in both blocks, else 0. */
export const samePairs = (one: Code, other: Code): Code => [...one, ...other, ...vector(0x2d)];
/** 255 for each byte of the block that is less than that of the other, as unsigned numbers, else 0. */
export const less = (one: Code, other: Code): Code => [...one, ...other, ...vector(0x26)];
/** The bits of both blocks. */
export const both = (one: Code, other: Code): Code => [...one, ...other, ...vector(0x4e)];
/** The bits of either block. */
export const either = (one: Code, other: Code): Code => [...one, ...other, ...vector(0x50)];
/** The bytes of the table, of 16 bytes, at the places that the bytes of the block name. */
export const lookUp = (table: Code, block: Code): Code => [...table, ...block, ...vector(0x0e)];
/** Shifts each byte. */
export const shiftBytesRight = (block: Code, bits: Code): Code => [...block, ...bits, ...vector(0x6d)];
/** Whether a bit of the block is set. */
export const hasAny = (block: Code): Code => [...block, ...vector(0x53)];
/** The highest bits of the 16 bytes, as a number. */
export const highBits = (block: Code): Code => [...block, ...vector(0x64)];

const END = 0x0b;
/** Runs the code if the condition is not 0. */
export const when = (condition: Code, ...then: Code[]): Code => [
  ...condition,
  ...[0x04, 0x40, ...then.flat(), END],
];
/** Code that begins again at `repeat`, and ends at `leave` or at its end. */
export const repeatedly = (...code: Code[]): Code => [0x02, 0x40, 0x03, 0x40, ...code.flat(), END, END];
/**
 * Begins a `repeatedly` again. `depth` is the number of `when` and, twice, of `repeatedly` around this place
 * within it.
 */
export const repeat = (depth: number): Code => [0x0c, depth];
/** Ends a `repeatedly`. For `depth` see `repeat`. */
export const leave = (depth: number): Code => [0x0c, depth + 1];
/** Ends the function with this result. */
export const give = (result: Code): Code => [...result, 0x0f];

const withLength = (code: Code): Code => [...unsigned(code.length), ...code];
const section = (id: number, content: Code): Code => [id, ...withLength(content)];
const name = (text: string): Code => withLength([...Buffer.from(text)]);

/** The parts of a module. */
interface ModuleParts {
  /** Size of the memory, which is exported as `memory`. */
  pages: number;
  /** The name under which the function is exported. It takes and returns one 32-bit number. */
  function: string;
  /** How many variables of which type follow the parameter, which is variable 0. */
  variables: readonly (readonly [count: number, type: number])[];
  /** The instructions; the last expression is the result. */
  code: Code;
}

/** A module with one memory and one function. */
export function moduleOf({ pages, function: exported, variables, code }: ModuleParts): Uint8Array {
  const locals = [...unsigned(variables.length), ...variables.flat()];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, I32, 1, I32]),
    ...section(3, [1, 0]),
    ...section(5, [1, 1, ...unsigned(pages), ...unsigned(pages)]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name(exported), 0, 0]),
    ...section(10, [1, ...withLength([...locals, ...code, END])]),
  ]);
}
