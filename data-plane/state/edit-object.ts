/** Replaces top-level members of a JSON object in an answer; every other byte stays. */
import { isObject } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { unreadableAnswer } from '../dialects/upstream-errors.ts';
import { replaceMembers, scanMembers } from '../exchange/json-members.ts';
import { textOf } from '../exchange/json-scan.ts';

/** The object in these bytes. Throws `upstream_failed` for anything else. */
export function readObject(bytes: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (isObject(value)) return value;
  } catch {
    // Not JSON: the same failure as JSON that is no object.
  }
  throw unreadableAnswer('the body is no object');
}

/** The bytes with these members replaced. Members that the object lacks are not added. */
export function editObject(bytes: Buffer, value: JsonObject, edits: JsonObject): Buffer {
  const present = Object.entries(edits).filter(([name]) => value[name] !== undefined && value[name] !== null);
  if (present.length === 0) return bytes;
  try {
    const { members } = scanMembers(textOf(bytes));
    const texts = new Map(present.map(([name, edit]) => [name, JSON.stringify(edit)]));
    return replaceMembers(bytes, members, { edits: texts });
  } catch {
    // The scanner reads requests strictly: it refuses depths and names that an upstream may send.
    return Buffer.from(JSON.stringify({ ...value, ...Object.fromEntries(present) }));
  }
}
