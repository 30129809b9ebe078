/**
 * Instructions that pass over a JSON body once: they note the members of the outermost object, count what is
 * limited, and write the body without its long texts. They give 0 for a body with anything unusual, which
 * only the whole parser reads or refuses. They do not check the grammar outside of strings.
 */
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  EXPONENT,
  JSON_DEPTH,
  LONG_NUMBER,
  MINUS,
  OPEN_ARRAY,
  OPEN_OBJECT,
  POINT,
  QUOTE,
  SPACE,
  UNDERSCORE,
  ZERO,
} from './json-scan.ts';
import { PLACEHOLDER_BYTES, PLACEHOLDER_DIGITS, TEXT_MEMBERS } from './omitted-texts.ts';
import {
  AHEAD,
  AT,
  BODY_AT,
  CELLS,
  CELLS_AT,
  CODE,
  COMMAS,
  CONTAINERS,
  COPIED,
  DEPTH,
  DIGITS_AT,
  END,
  ESCAPED_NAMES,
  HAS_POINT,
  INDEX,
  IS_ESCAPED,
  MEMBERS,
  MEMBERS_AT,
  MEMBER_BYTES,
  NAME,
  NAMES,
  NAMES_AT,
  NEXT,
  PLACEHOLDER_AT,
  RANGE_BYTES,
  SHORT,
  SHORT_AT,
  SHORT_END,
  START,
  TEXTS,
  TEXTS_AT,
  VALUE_END,
} from './scan-memory.ts';
import { BEFORE_STRINGS, BYTES_SO_FAR, END_OF_STRING, HITS } from './string-code.ts';
import {
  add,
  and,
  blockAt,
  byteAt,
  constant,
  copyBytes,
  equal,
  get,
  give,
  hasAny,
  highBits,
  increase,
  isAbove,
  isBelow,
  isZero,
  leave,
  numberAt,
  or,
  repeat,
  repeatedly,
  same,
  set,
  setBlock,
  setByte,
  setNumber,
  shiftRight,
  subtract,
  when,
} from './webassembly.ts';
import type { Code } from './webassembly.ts';

const NONE = constant(0);
const ONE = constant(1);
const UNUSUAL = give(NONE);
const BLOCK_BYTES = 16;
/** Bits of a hexadecimal digit. */
const DIGIT_BITS = 4;

const is = (variable: number, code: number): Code => equal(get(variable), constant(code));
const isNot = (variable: number, code: number): Code => isZero(is(variable, code));
const oneOf = (variable: number, one: number, other: number): Code =>
  or(is(variable, one), is(variable, other));
const isDigit = (variable: number): Code => isBelow(subtract(get(variable), constant(ZERO)), constant(10));
const cell = (name: keyof typeof CELLS): Code => numberAt(NONE, cellAt(name));
const setCell = (name: keyof typeof CELLS, value: Code): Code => setNumber(NONE, cellAt(name), value);

/** The address of a cell. */
function cellAt(name: keyof typeof CELLS): number {
  return CELLS_AT + CELLS[name] * 4;
}

const skipSpace = repeatedly(
  when(isZero(isAbove(byteAt(get(AHEAD), 0), constant(SPACE))), increase(AHEAD, ONE), repeat(1)),
);

/**
 * Refuses a name that may be an index, which JavaScript sorts, or `__proto__`. Either begins with a digit,
 * two underscores, or an escape.
 */
const checkName: Code = [
  set(CODE, byteAt(get(START), 1)),
  set(NEXT, byteAt(get(START), 2)),
  when(or(isDigit(CODE), is(CODE, BACKSLASH)), UNUSUAL),
  when(and(is(CODE, UNDERSCORE), oneOf(NEXT, UNDERSCORE, BACKSLASH)), UNUSUAL),
  increase(NAMES, ONE),
  set(ESCAPED_NAMES, or(get(ESCAPED_NAMES), get(IS_ESCAPED))),
].flat();

/** Notes a member of the outermost object. */
const noteMember: Code = [
  when(is(MEMBERS, TEXTS_AT), UNUSUAL),
  setNumber(get(MEMBERS), 0, get(START)),
  setNumber(get(MEMBERS), 4, get(AT)),
  setNumber(get(MEMBERS), 8, get(AHEAD)),
  setNumber(get(MEMBERS), 12, NONE),
  increase(MEMBERS, constant(MEMBER_BYTES)),
].flat();

/** Notes the end of the last member of the outermost object, unless it is known. */
const endMember = when(
  isZero(numberAt(subtract(get(MEMBERS), constant(MEMBER_BYTES)), 12)),
  setNumber(subtract(get(MEMBERS), constant(MEMBER_BYTES)), 12, get(VALUE_END)),
);

/** 1 if the name, with its quotes, is this one. */
function isNamed(name: string, index: number): Code {
  const known = blockAt(NONE, NAMES_AT + index * BLOCK_BYTES);
  const bits = constant((1 << (name.length + 2)) - 1);
  return equal(and(highBits(same(blockAt(get(NAME), 0), known)), bits), bits);
}

const isTextMember = [...TEXT_MEMBERS].map(isNamed).reduce(or);

/** Copies the body up to this position into the shortened body. */
const copyUpTo = (position: number): Code =>
  [
    set(AHEAD, subtract(get(position), get(COPIED))),
    when(isAbove(add(get(SHORT), get(AHEAD)), constant(SHORT_END)), UNUSUAL),
    copyBytes(get(SHORT), get(COPIED), get(AHEAD)),
    increase(SHORT, get(AHEAD)),
  ].flat();

/** Writes the placeholder of the next text. */
const writePlaceholder: Code = [
  ...Array.from({ length: Math.ceil(PLACEHOLDER_BYTES / BLOCK_BYTES) }, (_, index) =>
    setBlock(get(SHORT), index * BLOCK_BYTES, blockAt(NONE, PLACEHOLDER_AT + index * BLOCK_BYTES)),
  ),
  set(INDEX, shiftRight(subtract(get(TEXTS), constant(TEXTS_AT)), constant(Math.log2(RANGE_BYTES)))),
  ...Array.from({ length: PLACEHOLDER_DIGITS }, (_, index) =>
    setByte(
      get(SHORT),
      PLACEHOLDER_BYTES - 2 - index,
      byteAt(and(shiftRight(get(INDEX), constant(index * DIGIT_BITS)), constant(15)), DIGITS_AT),
    ),
  ),
  increase(SHORT, constant(PLACEHOLDER_BYTES)),
].flat();

/** Leaves out the string of a member if it is a long text. */
const shorten: Code = when(
  isAbove(subtract(get(AT), get(START)), cell('longText')),
  when(
    isTextMember,
    when(is(TEXTS, BODY_AT), UNUSUAL),
    copyUpTo(START),
    writePlaceholder,
    setNumber(get(TEXTS), 0, get(START)),
    setNumber(get(TEXTS), 4, get(AT)),
    increase(TEXTS, constant(RANGE_BYTES)),
    set(COPIED, get(AT)),
  ),
);

/** Passes over a string: the name of a member, or a value. */
const string: Code = [
  set(START, get(AT)),
  increase(AT, ONE),
  END_OF_STRING,
  when(isZero(isBelow(get(AT), get(END))), UNUSUAL),
  increase(AT, ONE),
  set(AHEAD, get(AT)),
  skipSpace,
  when(
    equal(byteAt(get(AHEAD), 0), constant(COLON)),
    increase(AHEAD, ONE),
    skipSpace,
    checkName,
    set(NAME, NONE),
    when(is(DEPTH, 1), noteMember),
    when(and(isNot(DEPTH, 1), equal(byteAt(get(AHEAD), 0), constant(QUOTE))), set(NAME, get(START))),
    set(AT, get(AHEAD)),
    repeat(2),
  ),
  set(VALUE_END, get(AT)),
  when(get(NAME), shorten, set(NAME, NONE)),
].flat();

/** Passes over a number. One that JavaScript would write otherwise is unusual. */
const number: Code = [
  set(START, add(get(AT), is(CODE, MINUS))),
  set(AT, get(START)),
  set(HAS_POINT, NONE),
  repeatedly(
    set(NEXT, byteAt(get(AT), 0)),
    when(is(NEXT, POINT), set(HAS_POINT, ONE), increase(AT, ONE), repeat(1)),
    when(isDigit(NEXT), increase(AT, ONE), repeat(1)),
  ),
  when(equal(or(get(NEXT), constant(0x20)), constant(EXPONENT)), UNUSUAL),
  when(isZero(isBelow(subtract(get(AT), get(START)), constant(LONG_NUMBER))), UNUSUAL),
  set(NEXT, byteAt(subtract(get(AT), ONE), 0)),
  when(and(get(HAS_POINT), is(NEXT, ZERO)), UNUSUAL),
  set(NEXT, byteAt(get(START), 0)),
  when(and(and(is(CODE, MINUS), isZero(get(HAS_POINT))), is(NEXT, ZERO)), UNUSUAL),
  set(VALUE_END, get(AT)),
].flat();

/** Runs the code if the byte at AT is meant, and goes on after the value. `code` sets AT. */
const step = (condition: Code, ...code: Code[]): Code => when(condition, ...code, repeat(1));

const atEachByte = repeatedly(
  when(isZero(isBelow(get(AT), get(END))), leave(1)),
  set(CODE, byteAt(get(AT), 0)),
  step(is(CODE, QUOTE), string),
  step(or(isDigit(CODE), is(CODE, MINUS)), number),
  increase(AT, ONE),
  step(is(CODE, COMMA), increase(COMMAS, ONE), when(is(DEPTH, 1), endMember)),
  step(
    oneOf(CODE, OPEN_OBJECT, OPEN_ARRAY),
    increase(CONTAINERS, ONE),
    increase(DEPTH, ONE),
    when(is(DEPTH, JSON_DEPTH + 1), UNUSUAL),
  ),
  step(
    oneOf(CODE, CLOSE_OBJECT, CLOSE_ARRAY),
    when(is(DEPTH, 1), endMember),
    set(DEPTH, subtract(get(DEPTH), ONE)),
    set(VALUE_END, get(AT)),
  ),
  when(isAbove(get(CODE), constant(SPACE)), set(VALUE_END, get(AT))),
  repeat(0),
);

/** Copies the rest of the body if a text was left out. */
const copyRest = when(isNot(TEXTS, TEXTS_AT), copyUpTo(END));

/** The body of the function: its parameter is END. Gives 1 for a usual body. */
export const BODY_CODE: Code = [
  BEFORE_STRINGS,
  set(AT, constant(BODY_AT)),
  set(COPIED, constant(BODY_AT)),
  set(MEMBERS, constant(MEMBERS_AT)),
  set(TEXTS, constant(TEXTS_AT)),
  set(SHORT, constant(SHORT_AT)),
  atEachByte,
  copyRest,
  setCell('names', get(NAMES)),
  setCell('containers', get(CONTAINERS)),
  setCell('commas', get(COMMAS)),
  setCell('membersEnd', get(MEMBERS)),
  setCell('textsEnd', get(TEXTS)),
  setCell('shortEnd', get(SHORT)),
  setCell('envelope', hasAny(get(HITS))),
  setCell('beyondAscii', highBits(get(BYTES_SO_FAR))),
  setCell('escapedName', get(ESCAPED_NAMES)),
  ONE,
].flat();
