/** Shared by tests of bodies that are read in outline. */
import { isObject } from '../data-plane/dialects/fields.ts';
import type { RequestBody } from '../data-plane/exchange/request-body.ts';

/** The outline of the body with all its texts. Throws an error if one is missing. */
export function restored(body: RequestBody, value: unknown = body.outline): unknown {
  if (typeof value === 'string') {
    const text = body.textOf(value);
    if (text === undefined) throw new Error('a text of the outline is missing');
    return text;
  }
  if (Array.isArray(value)) return value.map((item) => restored(body, item));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, restored(body, member)]);
  return Object.fromEntries(members);
}
