/**
 * Scans JSON bodies with a function of WebAssembly. It is written here, so that it needs no compiler and no
 * binary file.
 */
import { isUtf8 } from 'node:buffer';
import type { Pieces } from '../call/pieces.ts';
import { BODY_CODE } from './body-code.ts';
import type { Member } from './json-members.ts';
import { nameOf } from './json-scan.ts';
import { TEXT_MEMBERS, placeholderOf } from './omitted-texts.ts';
import {
  BODY_AT,
  CELLS,
  CELLS_AT,
  DIGITS_AT,
  MEMBERS_AT,
  NAMES_AT,
  NUMBERS,
  PADDING_BYTES,
  PAGES,
  PLACEHOLDER_AT,
  SHORT_AT,
  TEXTS_AT,
} from './scan-memory.ts';
import { BLOCKS, writeStringTables } from './string-code.ts';
import { I32, V128, moduleOf } from './webassembly.ts';

/** The part of the global that is used here: the types of Node.js lack it. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object) => {
    exports: { memory: { buffer: ArrayBuffer }; scan: (end: number) => number };
  };
};

/** Result of a scan. Positions count from the beginning of the body. */
export interface ScannedBody {
  /** Members of the outermost object. A name may come twice. */
  members: Member[];
  /** Long texts with their quotes: start and end, and so on. */
  texts: Uint32Array;
  /** The body with placeholders for long texts. */
  short: string;
  /** Numbers of members on all levels, of objects and lists, and of commas outside of strings. */
  names: number;
  containers: number;
  commas: number;
  /** Whether a string may hold an envelope of seals.ts. */
  mayHoldEnvelope: boolean;
  /** Whether the name of a member has a backslash. */
  hasEscapedName: boolean;
}

/** Scans bodies of up to OUTLINED_BYTES. */
export class BodyScanner {
  readonly #memory: Buffer;
  readonly #cells: Uint32Array;
  readonly #numbers: Uint32Array;
  readonly #scan: (end: number) => number;

  /** Throws an Error where SIMD instructions of WebAssembly are not available. */
  constructor() {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(MODULE));
    this.#memory = Buffer.from(exports.memory.buffer);
    this.#numbers = new Uint32Array(exports.memory.buffer);
    this.#cells = this.#numbers.subarray(CELLS_AT / NUMBER_BYTES);
    this.#scan = exports.scan;
    writeTables(this.#memory);
  }

  /**
   * Scans a body. Texts of more than `longTextBytes` are left out. Undefined for a body with anything
   * unusual, or that is not UTF-8. What is found is right only if the short body is valid JSON.
   */
  scan(pieces: Pieces, longTextBytes: number): ScannedBody | undefined {
    const [memory, cells] = [this.#memory, this.#cells];
    const end = BODY_AT + pieces.length;
    pieces.copyTo(memory, BODY_AT);
    // Quotes end every string that the body does not end.
    memory.fill('"', end, end + PADDING_BYTES);
    cells[CELLS.longText] = longTextBytes;
    if (this.#scan(end) === 0) return undefined;
    // All bytes beyond ASCII are in strings: the parser refuses others.
    const isAscii = cells[CELLS.beyondAscii] === 0;
    if (!isAscii && !isUtf8(memory.subarray(BODY_AT, end))) return undefined;
    const texts = this.#positions(TEXTS_AT, cells[CELLS.textsEnd]);
    const encoding = isAscii ? 'latin1' : 'utf8';
    return {
      members: this.#members(),
      texts,
      short:
        texts.length === 0
          ? memory.toString(encoding, BODY_AT, end)
          : memory.toString(encoding, SHORT_AT, cells[CELLS.shortEnd]),
      names: cells[CELLS.names] ?? 0,
      containers: cells[CELLS.containers] ?? 0,
      commas: cells[CELLS.commas] ?? 0,
      mayHoldEnvelope: cells[CELLS.envelope] !== 0,
      hasEscapedName: cells[CELLS.escapedName] !== 0,
    };
  }

  #members(): Member[] {
    const positions = this.#positions(MEMBERS_AT, this.#cells[CELLS.membersEnd]);
    const members: Member[] = [];
    for (let index = 0; index < positions.length; index += 4) {
      const [start = 0, nameEnd = 0, valueStart = 0, valueEnd = 0] = positions.subarray(index, index + 4);
      const text = this.#memory.toString('latin1', BODY_AT + start, BODY_AT + nameEnd);
      members.push({ name: nameOf(text, 0, text.length), start, valueStart, valueEnd });
    }
    return members;
  }

  /** The positions that are noted between these addresses. */
  #positions(from: number, to = from): Uint32Array {
    return this.#numbers.slice(from / NUMBER_BYTES, to / NUMBER_BYTES).map((at) => at - BODY_AT);
  }
}

const NUMBER_BYTES = 4;

const MODULE = moduleOf({
  pages: PAGES,
  function: 'scan',
  variables: [
    [NUMBERS - 1, I32],
    [BLOCKS, V128],
  ],
  code: BODY_CODE,
});

function writeTables(memory: Buffer): void {
  writeStringTables(memory);
  memory.write('0123456789abcdef', DIGITS_AT, 'latin1');
  memory.write(`"${placeholderOf(0)}"`, PLACEHOLDER_AT, 'latin1');
  for (const [index, name] of [...TEXT_MEMBERS].entries())
    memory.write(`"${name}"`, NAMES_AT + index * 16, 'latin1');
  // The end of the value of the entry before the first member.
  memory.writeUInt32LE(1, MEMBERS_AT - NUMBER_BYTES);
}
