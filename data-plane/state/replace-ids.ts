/** Replaces ids in the bytes of an answer; every other byte stays. */

const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;

/** Members of answers whose value is the id of a stored object. */
const MEMBERS = ['id', 'response_id', 'previous_response_id', 'conversation', 'conversation_id'].map((name) =>
  Buffer.from(JSON.stringify(name)),
);

/** Ids of an upstream that are safe in a path and equal their JSON text. */
const PLAIN_ID = /^[A-Za-z0-9._-]{1,255}$/;

/** Whether an upstream's id has a shape that can be sealed: printable, and safe in a path. */
export function isPlainId(id: unknown): id is string {
  return typeof id === 'string' && PLAIN_ID.test(id) && !/^\.+$/.test(id);
}

/**
 * The bytes with the ids of `names` (upstream → client) replaced where they are the value of a member that
 * names a stored object. Quotes within texts are escaped, so texts never match.
 */
export function replaceIds(bytes: Buffer, names: ReadonlyMap<string, string>): Buffer {
  let result = bytes;
  for (const [upstream, client] of names) result = replaceId(result, upstream, client);
  return result;
}

function replaceId(bytes: Buffer, upstream: string, client: string): Buffer {
  const searched = Buffer.from(JSON.stringify(upstream));
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(searched); at >= 0; at = bytes.indexOf(searched, at + searched.length)) {
    if (!isValueOf(bytes, at, MEMBERS)) continue;
    parts.push(bytes.subarray(from, at), Buffer.from(JSON.stringify(client)));
    from = at + searched.length;
  }
  return from === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)]);
}

/** Whether the value at this position is that of a member with one of these names, which are in quotes. */
export function isValueOf(bytes: Buffer, at: number, members: readonly Buffer[]): boolean {
  const colon = beforeSpace(bytes, at);
  if (bytes[colon - 1] !== COLON) return false;
  const end = beforeSpace(bytes, colon - 1);
  if (bytes[end - 1] !== QUOTE) return false;
  return members.some((name) => end >= name.length && bytes.subarray(end - name.length, end).equals(name));
}

/** The position after the last byte before `at` that is no white space. */
function beforeSpace(bytes: Buffer, at: number): number {
  let end = at;
  while (end > 0 && (bytes[end - 1] ?? 0) <= SPACE) end -= 1;
  return end;
}
