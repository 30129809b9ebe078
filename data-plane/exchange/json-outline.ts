/**
 * Reads the outline of a long body: the value without its long texts, which cost most of the time of
 * JSON.parse and which only a translation reads. One pass over the bytes finds the members and the texts;
 * JSON.parse reads the rest. A body with anything unusual, such as an error, has no outline: the caller then
 * parses it whole.
 */
import type { Pieces } from '../call/pieces.ts';
import { isObject } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { JSON_CONTAINERS, JSON_MEMBERS, JSON_VALUES, LONG_TEXT_BYTES, OUTLINED_BYTES } from '../limits.ts';
import { BodyScanner } from './body-scanner.ts';
import type { ScannedBody } from './body-scanner.ts';
import type { Member } from './json-members.ts';
import { OmittedTexts } from './omitted-texts.ts';

/** One scanner for all bodies: a scan ends before the next one begins. */
const SCANNER = newScanner();

/** A body without its long texts. */
export interface Outline {
  /** The exact value, with placeholders for long texts below the outermost object. */
  value: JsonObject;
  members: readonly Member[];
  /** Number of members on all levels. */
  names: number;
  texts: OmittedTexts;
  /** Whether a string may hold an envelope of seals.ts. */
  mayHoldEnvelope: boolean;
  /** Whether the name of a member has a backslash. */
  hasEscapedName: boolean;
}

/**
 * The outline of a body; undefined if the body has to be parsed whole, or is not UTF-8. `longTextBytes` is
 * the length above which texts are left out.
 */
export function outlineOf(pieces: Pieces, longTextBytes = LONG_TEXT_BYTES): Outline | undefined {
  if (!SCANNER || pieces.length > OUTLINED_BYTES) return undefined;
  const scanned = SCANNER.scan(pieces, longTextBytes);
  if (!scanned || !isWithinLimits(scanned) || hasTwins(scanned.members)) return undefined;
  const value = parsed(scanned.short);
  if (!isObject(value)) return undefined;
  const { members, names, mayHoldEnvelope, hasEscapedName } = scanned;
  const texts = new OmittedTexts(pieces, scanned.texts);
  return { value, members, names, texts, mayHoldEnvelope, hasEscapedName };
}

function newScanner(): BodyScanner | undefined {
  try {
    return new BodyScanner();
  } catch {
    // An old processor, or too little address space: all bodies are then parsed whole.
    return undefined;
  }
}

function isWithinLimits({ containers, commas, names }: ScannedBody): boolean {
  return containers <= JSON_CONTAINERS && names <= JSON_MEMBERS && containers + commas <= JSON_VALUES;
}

/** Whether a name comes twice. */
function hasTwins(members: readonly Member[]): boolean {
  return new Set(members.map(({ name }) => name)).size < members.length;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
