/** The tables of headers (members.ts of each dialect): what of a client's headers is sent on a mirror. */
import type { IncomingHttpHeaders } from 'node:http';

/**
 * One line: a header in lower case, what is done with it, its flags, and the page that documents it. `pass`
 * sends it. `ours` leaves it out, because it names an account or the client itself. `flags` sends those of
 * its comma-separated values that a line lists.
 */
export type HeaderLine = readonly [
  name: string,
  kind: 'pass' | 'ours' | 'flags',
  flags: string,
  source: string,
];

interface KnownHeader {
  kind: HeaderLine[1];
  flags: Set<string>;
}

/** A compiled table. Headers without the prefix do not belong to the format, and are never sent. */
export interface HeaderTable {
  readonly prefix: string;
  readonly headers: ReadonlyMap<string, KnownHeader>;
}

/** The headers to send, and what was dropped: `header:<name>` or `header:<name>/<flag>`. */
interface SentHeaders {
  headers: Record<string, string>;
  dropped: string[];
}

/** Compiles the table of a format whose headers begin with `prefix`. */
export function compileHeaders(prefix: string, lines: readonly HeaderLine[]): HeaderTable {
  const headers = new Map<string, KnownHeader>();
  for (const [name, kind, flags] of lines) {
    const known = headers.get(name) ?? { kind, flags: new Set<string>() };
    for (const flag of flags.split(' ')) if (flag) known.flags.add(flag);
    headers.set(name, known);
  }
  return { prefix, headers };
}

/** The client's headers of the format. With `passUnknown`, unlisted headers and flags are sent, too. */
export function sentHeaders(
  client: IncomingHttpHeaders,
  { prefix, headers }: HeaderTable,
  passUnknown: boolean,
): SentHeaders {
  const sent: SentHeaders = { headers: {}, dropped: [] };
  for (const name in client) {
    if (!name.startsWith(prefix)) continue;
    const value = client[name];
    const known = headers.get(name);
    if (typeof value !== 'string' || known?.kind === 'ours') continue;
    if (known?.kind === 'flags' && !passUnknown) addFlags(sent, { name, value, flags: known.flags });
    else if (known ?? passUnknown) sent.headers[name] = value;
    else sent.dropped.push(`header:${name}`);
  }
  return sent;
}

function addFlags(
  sent: SentHeaders,
  { name, value, flags }: { name: string; value: string; flags: ReadonlySet<string> },
): void {
  const given = value
    .split(',')
    .map((flag) => flag.trim())
    .filter((flag) => flag !== '');
  const known = given.filter((flag) => flags.has(flag));
  if (known.length > 0) sent.headers[name] = known.length === given.length ? value : known.join(',');
  for (const flag of given) if (!flags.has(flag)) sent.dropped.push(`header:${name}/${flag}`);
}
