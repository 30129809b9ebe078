/** A second reader of JSON text, which sees what JSON.parse hides: depth and duplicate names. */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

export interface JsonStructure {
  /** Nested objects and lists at the deepest place. */
  depth: number;
  /** The first name that comes twice in one object. */
  duplicate: string | undefined;
  /** All names of members. */
  names: Set<string>;
}

/** The structure of a valid JSON text. */
export function readStructure(text: string): JsonStructure {
  const result: JsonStructure = { depth: 0, duplicate: undefined, names: new Set() };
  const open: (Set<string> | undefined)[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const name = String(JSON.parse(last));
      const siblings = open.at(-1);
      if (siblings?.has(name)) result.duplicate ??= name;
      siblings?.add(name);
      result.names.add(name);
    }
    result.depth = Math.max(result.depth, open.length);
    last = token;
  }
  return result;
}
