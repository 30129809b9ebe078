/** Parses a JSON request body strictly, so that every upstream's parser reads the model that is billed. */
import { isAscii, isUtf8 } from 'node:buffer';
import { Pieces, piecesOf } from '../call/pieces.ts';
import { invalidRequest } from '../call/refusals.ts';
import { exactly, readJson } from '../dialects/exact-json.ts';
import { isObject, objectOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { inspect } from '../dialects/member-table.ts';
import type { Findings, MemberTable } from '../dialects/member-table.ts';
import { holdsEnvelope } from '../dialects/seals.ts';
import { OUTLINED_FROM_BYTES } from '../limits.ts';
import { refuseDuplicates, scanMembers } from './json-members.ts';
import { outlineOf } from './json-outline.ts';
import type { Outline } from './json-outline.ts';
import { refuseTooManyValues } from './json-size.ts';
import type { Member } from './json-members.ts';
import { textOf } from './json-scan.ts';

/** A body as a value, and as bytes with the positions of its members. */
export interface RequestBody {
  /** The bytes, in one buffer once they are asked for. */
  readonly bytes: Buffer;
  readonly pieces: Pieces;
  readonly value: JsonObject;
  /**
   * The value with all digits of numbers and all members in order (exact-json.ts), for parts that pass
   * through.
   */
  readonly exact: JsonObject;
  /** The exact value, in which placeholders may stand for long texts (json-outline.ts). */
  readonly outline: JsonObject;
  readonly members: readonly Member[];
  /** The body's members, judged by the table of its format. */
  readonly findings: Findings;
  /** The exact value of a member of the outermost object, with all texts; undefined if it is absent. */
  member(name: string): unknown;
  /** Whether the outline lacks texts. */
  readonly lacksTexts: boolean;
  /** The text that a string of the outline stands for. See `OmittedTexts`. */
  textOf(string: string): string | undefined;
  /** Puts the texts into a value that was made of the outline. See `OmittedTexts`. */
  restore(value: object): boolean;
  /** Whether the body holds an envelope (seals.ts). */
  holdsEnvelope(): boolean;
}

/**
 * The parsed body, compared with the table of its format if there is one. Throws `invalid_request` unless it
 * is one JSON object in UTF-8 whose names are unique in each object, and whose `model` is in lower case.
 * Throws `body_too_large` above the limits of values.
 */
export function parseRequestBody(bytes: Buffer, table?: MemberTable): RequestBody {
  refuseOtherEncodings(bytes);
  const scannable = textOf(bytes);
  refuseTooManyValues(scannable);
  // Most long bodies have only ASCII, for which both strings are equal. Each takes time to make.
  const text = isAscii(bytes) ? scannable : bytes.toString('utf8');
  const parsed = parseJson(text);
  if (!isObject(parsed)) throw invalidRequest('The request body is not a JSON object. Send a JSON object.');
  // Limits the nesting, so that the value can be walked through.
  const scanned = scanMembers(scannable);
  const found = inspect(parsed, table);
  const value = found.hasBackslash ? objectOf(readJson(text)) : parsed;
  const findings = value === parsed ? found : inspect(value, table);
  refuseDuplicates(scannable, scanned, findings.names);
  const { members } = scanned;
  refuseOtherModels(members);
  const exact = scanned.isInexact ? exactly(text, value) : value;
  return {
    ...{ bytes, pieces: new Pieces([bytes]), value, exact, outline: exact, members, findings },
    lacksTexts: false,
    member: (name) => exact[name],
    textOf: (string) => string,
    restore: () => true,
    // The text is made again: a kept one would double the memory of a waiting request.
    holdsEnvelope: () => holdsEnvelope(textOf(bytes)),
  };
}

/**
 * Like `parseRequestBody`, for requests that are mostly sent on as they are: a long body is read in outline,
 * and its value is parsed when somebody needs it.
 */
export function parseChatBody(bytes: Buffer | Pieces, table?: MemberTable): RequestBody {
  const outlined = bytes.length < OUTLINED_FROM_BYTES ? undefined : outlinedBody(bytes, { table });
  return outlined ?? parseRequestBody(bytes instanceof Pieces ? bytes.whole() : bytes, table);
}

function refuseOtherEncodings(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw invalidRequest('The request body is not valid UTF-8. Encode it as UTF-8.');
}

/** The body in outline; undefined if it has to be parsed whole. */
export function outlinedBody(
  bytes: Buffer | Pieces,
  { table, longTextBytes }: { table?: MemberTable | undefined; longTextBytes?: number },
): RequestBody | undefined {
  const pieces = piecesOf(bytes);
  const outline = outlineOf(pieces, longTextBytes);
  if (!outline) return undefined;
  const findings = inspect(outline.value, table, outline.hasEscapedName);
  // A name came twice in an object, or may have been misread.
  if (findings.names !== outline.names || findings.hasBackslash) return undefined;
  refuseOtherModels(outline.members);
  return new OutlinedBody(pieces, outline, findings);
}

/** A body whose value is parsed when somebody needs it. */
class OutlinedBody implements RequestBody {
  readonly pieces: Pieces;
  readonly findings: Findings;
  readonly #outline: Outline;
  #value: JsonObject | undefined;

  constructor(pieces: Pieces, outline: Outline, findings: Findings) {
    this.pieces = pieces;
    this.#outline = outline;
    this.findings = findings;
    this.#value = outline.texts.count === 0 ? outline.value : undefined;
  }

  get bytes(): Buffer {
    return this.pieces.whole();
  }
  get members(): readonly Member[] {
    return this.#outline.members;
  }
  get outline(): JsonObject {
    return this.#outline.value;
  }
  get lacksTexts(): boolean {
    return this.#outline.texts.count > 0;
  }
  get value(): JsonObject {
    this.#value ??= objectOf(readJson(this.bytes.toString(isAscii(this.bytes) ? 'latin1' : 'utf8')));
    return this.#value;
  }
  /** Only values that JSON.parse reads exactly have an outline. */
  get exact(): JsonObject {
    return this.value;
  }

  member(name: string): unknown {
    const range = this.members.find((member) => member.name === name);
    return range && readJson(this.pieces.slice(range.valueStart, range.valueEnd).toString('utf8'));
  }

  textOf(string: string): string | undefined {
    return this.#outline.texts.textOf(string);
  }

  restore(value: object): boolean {
    return this.#outline.texts.restore(value);
  }

  holdsEnvelope(): boolean {
    return this.#outline.mayHoldEnvelope && holdsEnvelope(textOf(this.bytes));
  }
}

/** Throws `invalid_request` for a name that an upstream may read as that of the billed model. */
function refuseOtherModels(members: readonly Member[]): void {
  for (const { name } of members) {
    // An upstream whose parser ignores case would read this member instead of the billed model.
    if (name !== 'model' && name.toLowerCase() === 'model') {
      throw invalidRequest('Write the member "model" in lower case.', name);
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest('The request body is not valid JSON. Check its syntax.');
  }
}
