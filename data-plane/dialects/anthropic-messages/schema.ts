/**
 * Reduces JSON Schemas to the subset that the provider accepts for structured output.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
import { isObject } from '../fields.ts';
import type { JsonObject } from '../fields.ts';

/** Keywords that limit values, which the provider refuses. */
const REFUSED: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'maxItems',
  'minProperties',
  'maxProperties',
  'uniqueItems',
]);
/** Keywords whose members are schemas under names of the client's choice. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
/** JSON Schema keywords whose values are not schemas. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required']);

/**
 * Closes all objects of the schema and removes limits on values. `isChanged` tells whether limits were lost.
 */
export function strictSchema(schema: JsonObject): { schema: JsonObject; isChanged: boolean } {
  let isChanged = false;
  const close = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(close);
    if (!isObject(node)) return node;
    const closed: JsonObject = {};
    for (const [name, value] of Object.entries(node)) {
      if (REFUSED.has(name)) isChanged = true;
      else if (DATA.has(name)) closed[name] = value;
      else if (NAMED.has(name) && isObject(value)) {
        closed[name] = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, close(inner)]));
      } else closed[name] = close(value);
    }
    if (closed.type === 'object' || isObject(closed.properties)) closed.additionalProperties = false;
    return closed;
  };
  const closed = close(schema);
  return { schema: isObject(closed) ? closed : {}, isChanged };
}
