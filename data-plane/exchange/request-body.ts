/** Parses a JSON request body strictly, so that every upstream's parser reads the model that is billed. */
import { isAscii, isUtf8 } from 'node:buffer';
import { invalidRequest } from '../call/refusals.ts';
import { exactly, mayBeMisread, readJson } from '../dialects/exact-json.ts';
import { isObject, objectOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { inspect } from '../dialects/member-table.ts';
import type { Findings, MemberTable } from '../dialects/member-table.ts';
import { refuseDuplicates, scanMembers } from './json-members.ts';
import { refuseTooManyValues } from './json-size.ts';
import type { Member } from './json-members.ts';
import { textOf } from './json-scan.ts';

/** A body as a value, and as bytes with the positions of its members. */
export interface RequestBody {
  bytes: Buffer;
  value: JsonObject;
  /**
   * The value with all digits of numbers and all members in order (exact-json.ts), for parts that pass
   * through.
   */
  exact: JsonObject;
  members: readonly Member[];
  /** The body's members, judged by the table of its format. */
  findings: Findings;
}

/**
 * The parsed body, compared with the table of its format if there is one. Throws `invalid_request` unless it
 * is one JSON object in UTF-8 whose names are unique in each object, and whose `model` is in lower case.
 * Throws `body_too_large` above the limits of values.
 */
export function parseRequestBody(bytes: Buffer, table?: MemberTable): RequestBody {
  if (!isUtf8(bytes)) throw invalidRequest('The request body is not valid UTF-8. Encode it as UTF-8.');
  const scannable = textOf(bytes);
  refuseTooManyValues(scannable);
  // Most long bodies have only ASCII, for which both strings are equal. Each takes time to make.
  const text = isAscii(bytes) ? scannable : bytes.toString('utf8');
  const parsed = parseJson(text);
  if (!isObject(parsed)) throw invalidRequest('The request body is not a JSON object. Send a JSON object.');
  // Limits the nesting, so that the value can be walked through.
  const scanned = scanMembers(scannable);
  const value = mayBeMisread(parsed) ? objectOf(readJson(text)) : parsed;
  const findings = inspect(value, table);
  refuseDuplicates(scannable, scanned, findings.names);
  const { members } = scanned;
  for (const { name } of members) {
    // An upstream whose parser ignores case would read this member instead of the billed model.
    if (name !== 'model' && name.toLowerCase() === 'model') {
      throw invalidRequest('Write the member "model" in lower case.', name);
    }
  }
  const exact = scanned.isInexact ? exactly(text, value) : value;
  return { bytes, value, exact, members, findings };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest('The request body is not valid JSON. Check its syntax.');
  }
}
