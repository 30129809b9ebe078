/**
 * Mirrors a request to an upstream of the same format: replaces a few members, leaves out those that its
 * table does not know, and keeps every other byte.
 */
import type { ProtocolName } from '@gateway/shared/catalog';
import type { IncomingHttpHeaders } from 'node:http';
import type { Quirk } from '@gateway/shared/quirks';
import type { Pieces } from '../call/pieces.ts';
import { invalidRequest } from '../call/refusals.ts';
import type { SoldModel } from '../config/config.ts';
import type { MirrorTables } from '../dialects/dialect.ts';
import type { Reasoning } from '../dialects/canonical.ts';
import { parseJson, writeJson } from '../dialects/exact-json.ts';
import { objectOf, storedObjectError } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { sentHeaders } from '../dialects/header-table.ts';
import { pointerOf } from '../dialects/member-table.ts';
import type { Steps } from '../dialects/member-table.ts';
import { UNKNOWN_MEMBERS } from '../limits.ts';
import { replaceInPieces, replaceMembers } from './json-members.ts';
import { quirkedBody, quirkedMembers } from './member-quirks.ts';
import type { RequestBody } from './request-body.ts';

/** Members to replace (JSON text) or to leave out (undefined). */
type Edits = Map<string, string | undefined>;

interface MirrorOptions {
  dialect: ProtocolName;
  model: string;
  streamed: boolean;
  /** Whether only the tokens of the request are counted, which stores nothing. */
  counts?: boolean;
  /** Members and headers that pass. Without tables all members pass, and no header. */
  tables: MirrorTables | undefined;
  /** Whether members, headers and flags that the tables do not know pass, too. */
  passUnknown: boolean;
  /** JSON texts of members about stored objects, in place of the client's. */
  stateEdits?: ReadonlyMap<string, string> | undefined;
  /** How the upstream differs from the format; absent: not at all. */
  quirks?: readonly Quirk[];
  /** The reasoning that the client asks for. */
  reasoning?: Reasoning | undefined;
}

/** A request that was compared with its table. */
type Inspected = Pick<RequestBody, 'findings'>;

/** A mirrored request. */
interface Mirrored {
  body: Buffer | Pieces;
  headers: Record<string, string>;
  /** Dropped parts: JSON pointers into the body, and `header:<name>`. */
  dropped: string[];
}

/** The client's body and headers for the upstream: with its name of the model, and storage switched off. */
export function mirrored(body: RequestBody, client: IncomingHttpHeaders, options: MirrorOptions): Mirrored {
  const { dialect, tables, passUnknown, stateEdits, quirks = [], reasoning } = options;
  const removals = passUnknown ? [] : unknownOf(body);
  const edits = editsOf(body, options);
  if (stateEdits) for (const [name, text] of stateEdits) edits.set(name, text);
  const lost = quirks.length > 0 ? editQuirks(body, { edits, removals }, { quirks, dialect, reasoning }) : [];
  const sent = tables ? sentHeaders(client, tables.headers, passUnknown) : { headers: {}, dropped: [] };
  // Upstreams of messages refuse a request without a version. The client's own version replaces this one.
  const version: Record<string, string> =
    dialect === 'anthropic-messages' ? { 'anthropic-version': '2023-06-01' } : {};
  return {
    body: replaceInPieces(body.pieces, body.members, {
      edits,
      // A member that is written again no longer contains the removed parts.
      removals: removals.filter(([name]) => !edits.has(String(name))),
    }),
    headers: { ...version, ...sent.headers },
    dropped: [...removals.map(pointerOf), ...lost, ...sent.dropped],
  };
}

/**
 * Adds the changes of quirks to the edits, and returns the JSON pointers of what they lose of the client's
 * request. A member that changes is written again as a whole, without what is removed of it.
 */
function editQuirks(
  body: RequestBody,
  { edits, removals }: { edits: Edits; removals: readonly Steps[] },
  options: Parameters<typeof quirkedBody>[1],
): string[] {
  const known = removals.length > 0 ? withoutUnknown(body).value : withWhole(body, options.quirks);
  const sent: JsonObject = { ...known };
  for (const [name, text] of edits) {
    if (text === undefined) delete sent[name];
    else sent[name] = parseJson(text);
  }
  const { body: quirked, changed, lost } = quirkedBody(sent, options);
  for (const name of changed)
    edits.set(name, quirked[name] === undefined ? undefined : writeJson(quirked[name]));
  return lost.filter((steps) => isSent(known, steps)).map(pointerOf);
}

/**
 * The client's members, with all texts of those that these quirks concern. Placeholders may stand for long
 * texts of the others.
 */
function withWhole(body: RequestBody, quirks: readonly Quirk[]): JsonObject {
  const members = { ...body.outline };
  for (const name of quirkedMembers(quirks)) {
    if (Object.hasOwn(members, name)) members[name] = body.member(name);
  }
  return members;
}

/** Whether the client sent this member. */
function isSent(body: JsonObject, steps: Steps): boolean {
  let value: unknown = body;
  for (const step of steps) value = objectOf(value)[step];
  return value !== undefined;
}

/** All customers share the operator's account, so nothing of theirs may be stored there. */
function editsOf(
  body: RequestBody,
  { dialect, model, streamed, counts }: Pick<MirrorOptions, 'dialect' | 'model' | 'streamed' | 'counts'>,
): Edits {
  const edits: Edits = new Map();
  if (dialect === 'google-generate') {
    // The path names the model. A model in the body would contradict it.
    if ('model' in body.outline) edits.set('model', undefined);
    return edits;
  }
  edits.set('model', JSON.stringify(model));
  if (dialect === 'openai-responses') edits.set('store', counts ? undefined : 'false');
  if (dialect === 'openai-chat') {
    if ('store' in body.outline) edits.set('store', undefined);
    if (streamed) edits.set('stream_options', streamOptionsOf(body));
  }
  return edits;
}

/** The client's stream options, with usage. */
function streamOptionsOf(body: RequestBody): string {
  return JSON.stringify({ ...objectOf(body.member('stream_options')), include_usage: true });
}

/** The body's value without the members that its table does not know, and the JSON pointers of those. */
export function withoutUnknown(body: RequestBody): { value: JsonObject; dropped: string[] } {
  const removals = unknownOf(body);
  const bytes = replaceMembers(body.bytes, body.members, { edits: new Map(), removals });
  return { value: objectOf(parseJson(bytes.toString('utf8'))), dropped: removals.map(pointerOf) };
}

/** The members to leave out. Throws `invalid_request` if there are too many. */
export function unknownOf({ findings: { unknown } }: Inspected): readonly Steps[] {
  const [first = []] = unknown;
  if (unknown.length <= UNKNOWN_MEMBERS) return unknown;
  const message = `More than ${UNKNOWN_MEMBERS} members are unknown to the model. Leave them out.`;
  throw invalidRequest(message, pointerOf(first));
}

/** Throws `invalid_request` if a member names an object that is stored at a provider. */
export function refuseStored({ findings }: Inspected): void {
  const [first] = findings.stored;
  if (first) throw storedObjectError(pointerOf(first));
}

/** Throws `invalid_request` if a member asks for more than the flat price of the model covers. */
export function refusePriced({ findings }: Inspected, { name, limits }: SoldModel): void {
  for (const { steps, tier } of findings.priced) {
    if (limits.serviceTiers.includes(tier)) continue;
    const pointer = pointerOf(steps);
    throw invalidRequest(`${name} is not sold with "${tier}". Leave ${pointer} out.`, pointer);
  }
}
