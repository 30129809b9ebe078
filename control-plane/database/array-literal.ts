/**
 * Writes arrays in PostgreSQL's text format. The driver searches each item twice for characters to escape,
 * also numbers, which takes much of the time of a statement with thousands of items.
 * https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO
 */

const ESCAPED = /["\\]/;

/** The value of a parameter: an array of plain items as text, every other value as it is. */
export function parameterOf(value: unknown): unknown {
  return Array.isArray(value) ? (arrayLiteral(value) ?? value) : value;
}

/** The text of an array; undefined if an item is no string, number, boolean or null. */
function arrayLiteral(items: readonly unknown[]): string | undefined {
  let text = '{';
  for (const item of items) {
    if (text.length > 1) text += ',';
    if (typeof item === 'string') text += quoted(item);
    else if (item === null || item === undefined) text += 'NULL';
    else if (typeof item === 'number' || typeof item === 'boolean') text += String(item);
    else return undefined;
  }
  return `${text}}`;
}

function quoted(item: string): string {
  return ESCAPED.test(item) ? `"${item.replaceAll(/["\\]/g, String.raw`\$&`)}"` : `"${item}"`;
}
