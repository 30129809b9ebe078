/** The memory of the scanner of bodies, and the variables of its function. */
import { JSON_TOP_MEMBERS, OUTLINED_BYTES } from '../limits.ts';
import { PLACEHOLDER_BYTES } from './omitted-texts.ts';

const PAGE_BYTES = 65_536;
/** Bytes that the scanner may read after the end of the text. They are quotes, which end every string. */
export const PADDING_BYTES = 64;
/** Bytes of an entry of a member: four numbers. */
export const MEMBER_BYTES = 16;
/** Bytes of an entry of a long text: its range. */
export const RANGE_BYTES = 8;
/** Long texts of one body. With their usual length a body of OUTLINED_BYTES has half as many. */
const TEXTS_MAX = 16_384;

/** For each byte: 1 if it is a hexadecimal digit. */
export const HEX_AT = 0;
/** The bytes of `PATTERNS` in string-code.ts. */
export const PATTERNS_AT = 256;
/** For each low and high half of a byte, one bit for each high half with which it follows a backslash. */
export const LOW_HALVES_AT = 272;
export const HIGH_HALVES_AT = 288;
/** The 16 digits of the numbers of placeholders. */
export const DIGITS_AT = 304;
/** The placeholder with the number 0. */
export const PLACEHOLDER_AT = 320;
/** The names of members with long texts, in quotes, 16 bytes each. */
export const NAMES_AT = 384;
/** Input and results of the scanner: four bytes for each number of `CELLS`. */
export const CELLS_AT = 512;

/** The numbers at `CELLS_AT`. */
export const CELLS = {
  /** The length above which texts are left out, in bytes. */
  longText: 0,
  /** Numbers of members, of objects and lists, and of commas. */
  names: 1,
  containers: 2,
  commas: 3,
  /** Where the entries of members and texts end, and the shortened body. */
  membersEnd: 4,
  textsEnd: 5,
  shortEnd: 6,
  /** Not 0 if a string may hold an envelope of seals.ts. */
  envelope: 7,
  /** Not 0 if a string has a byte beyond ASCII. */
  beyondAscii: 8,
  /** Not 0 if the name of a member has a backslash. */
  escapedName: 9,
} as const;

/** Before the first member is an entry that is no member, so that every comma may end one. */
export const MEMBERS_AT = 1_024;
export const TEXTS_AT = MEMBERS_AT + JSON_TOP_MEMBERS * MEMBER_BYTES;
/** The body. */
export const BODY_AT = TEXTS_AT + TEXTS_MAX * RANGE_BYTES;
/** The shortened body: the body with placeholders for long texts. */
export const SHORT_AT = BODY_AT + OUTLINED_BYTES + PADDING_BYTES;
/** The end of the space for the shortened body, with room for one placeholder. */
export const SHORT_END = SHORT_AT + OUTLINED_BYTES;
export const PAGES = Math.ceil((SHORT_END + PLACEHOLDER_BYTES + PADDING_BYTES) / PAGE_BYTES);

/**
 * The variables. Of a mask, bit n stands for byte n of the block. END is the position after the body. CARRY
 * is 1 if the block before ends with a backslash that escapes the first byte of this one. INSIDE are the
 * bytes before the end of the string, and UNICODE the names `u` of escape sequences such as `\u00e9`.
 * IS_ESCAPED is not 0 if the string has a backslash.
 */
export const [END, AT, BACKSLASHES, CARRY, RUNS, ESCAPED, ENDS, INSIDE, UNICODE, IS_ESCAPED] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
] as const;
/**
 * CODE is the byte at AT. The last string with its quotes is from START to AT. The name of a member whose
 * value is a string begins at NAME, which is 0 for other values. VALUE_END is the end of the last value.
 */
export const [CODE, NEXT, AHEAD, START, NAME, VALUE_END, HAS_POINT, DEPTH] = [
  10, 11, 12, 13, 14, 15, 16, 17,
] as const;
/**
 * MEMBERS and TEXTS are where the next entries are written. The shortened body goes on at SHORT, and bytes
 * from COPIED on are not in it yet.
 */
export const [NAMES, CONTAINERS, COMMAS, MEMBERS, TEXTS, SHORT, COPIED, INDEX, ESCAPED_NAMES] = [
  18, 19, 20, 21, 22, 23, 24, 25, 26,
] as const;
/** Number of variables so far, with the parameter END. All others are blocks. */
export const NUMBERS = 27;
