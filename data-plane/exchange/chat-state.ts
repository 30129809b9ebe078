/** The stored objects of one chat request: those that it names, and the one that its answer becomes. */
import type { DialectName } from '@gateway/shared/catalog';
import type { GatewayError } from '@gateway/shared/failures';
import { invalidRequest } from '../call/refusals.ts';
import type { Call } from '../call/call.ts';
import type { CompiledRoute, SoldModel } from '../config/config.ts';
import type { ChatEvent } from '../dialects/canonical.ts';
import type { UpstreamDialect } from '../dialects/dialect.ts';
import { isObject, storedObjectError } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { pointerOf } from '../dialects/member-table.ts';
import { unreadableAnswer } from '../dialects/upstream-errors.ts';
import { missingReference } from '../state/missing.ts';
import { hasStoredObjects, placeOf, routesTo } from '../state/place.ts';
import type { StateDialect } from '../state/place.ts';
import { refusalOf } from '../state/refusal.ts';
import { isPlainId, replaceIds } from '../state/replace-ids.ts';
import type { SealedIds, StateKind, StoredObject } from '../state/sealed-ids.ts';
import type { Candidate } from '../upstreams/attempt.ts';
import type { RequestBody } from './request-body.ts';

/** The sender of the request, and the key of the ids. */
export interface StateContext {
  ids: SealedIds;
  walletId: string;
  dialect: StateDialect;
}

/** Undefined if requests of this format name no stored objects, or this node cannot read their ids. */
export function stateContext(
  { config, incoming }: Pick<Call, 'config' | 'incoming'>,
  dialect: DialectName | undefined,
): StateContext | undefined {
  const ids = config.sealedIds;
  const walletId = incoming.payer?.walletId;
  if (!ids || walletId === undefined || !hasStoredObjects(dialect)) return undefined;
  return { ids, walletId, dialect };
}

/** Changes the bytes of an event, from which these events were decoded. */
export type Rename = (bytes: Buffer, events: readonly ChatEvent[]) => Buffer;

/** The members of a request that may name a stored object. */
const MEMBERS: Record<StateDialect, Readonly<Record<string, StateKind>>> = {
  'openai-responses': { previous_response_id: 'response', conversation: 'conversation' },
  'google-generate': { cachedContent: 'cache', cached_content: 'cache' },
};

/** A member of the request that names a stored object. */
interface Reference {
  member: string;
  kind: StateKind;
  /** The id as the client sent it. */
  id: string;
  /** Undefined if the id does not open. */
  object: StoredObject | undefined;
}

/** Reads the stored objects that the body names, and whether its answer is to be stored. */
export function readChatState(body: RequestBody, context: StateContext | undefined): ChatState | undefined {
  if (!context) return undefined;
  const { ids, walletId, dialect } = context;
  const references = Object.entries(MEMBERS[dialect]).flatMap(([member, kind]): Reference[] => {
    const id = idIn(body.outline[member]);
    return id === undefined ? [] : [{ member, kind, id, object: ids.open(id, kind, walletId) }];
  });
  const { store } = body.outline;
  // A request that names a conversation asks for storage: the answer becomes a part of the conversation.
  const isPart = store !== false && references.some(({ kind }) => kind === 'conversation');
  const stores = dialect === 'openai-responses' && (store === true || isPart);
  if (references.length === 0 && !stores) return undefined;
  return new ChatState({ ...context, references, stores });
}

/** The id of a reference: a text, or an object with it. */
function idIn(value: unknown): string | undefined {
  const id = isObject(value) ? value.id : value;
  return typeof id === 'string' ? id : undefined;
}

interface ChatStateParts extends StateContext {
  references: readonly Reference[];
  stores: boolean;
}

/** The stored objects of one request. Made by `readChatState`. */
export class ChatState {
  readonly #parts: ChatStateParts;
  /** The catalog's name of the model once it is known to store state. */
  #model: string | undefined;

  constructor(parts: ChatStateParts) {
    this.#parts = parts;
  }

  /** Whether the request continues something that is stored, so that its own messages are only a part. */
  get continues(): boolean {
    return this.#parts.references.length > 0;
  }

  /** Whether the answer is stored, so that its id is the one that opens it. */
  get namesAnswer(): boolean {
    const { stores, dialect } = this.#parts;
    return stores && this.#model !== undefined && dialect === 'openai-responses';
  }

  /** The body's value without the members that name stored objects. */
  withoutReferences(value: JsonObject): JsonObject {
    if (!this.continues) return value;
    const rest = { ...value };
    for (const { member } of this.#parts.references) delete rest[member];
    return rest;
  }

  /** The findings without those about these members. */
  withoutFindings({ findings }: Pick<RequestBody, 'findings'>): Pick<RequestBody, 'findings'> {
    const known = new Set<string | number>(this.#parts.references.map(({ member }) => member));
    const stored = findings.stored.filter((steps) => steps.length > 1 || !known.has(steps[0] ?? ''));
    return { findings: { ...findings, stored } };
  }

  /**
   * Throws if the request names a stored object that the model does not take, or one that does not open for
   * this wallet.
   */
  check({ name, storesState }: SoldModel): void {
    const { references } = this.#parts;
    if (storesState) this.#model = name;
    for (const { member, kind, id, object } of references) {
      const at = pointerOf([member]);
      if (!storesState) throw storedObjectError(at);
      if (!object) throw missingReference(kind, id, at);
    }
  }

  /** The routes to the account that has the objects. Throws "not found" if there are none. */
  usableRoutes(routes: readonly CompiledRoute[]): readonly CompiledRoute[] {
    const { references, dialect } = this.#parts;
    if (references.length === 0) return routes;
    let usable = routes.filter(({ provider: { protocols } }) => protocols.includes(dialect));
    for (const { member, kind, id, object } of references) {
      usable = object ? routesTo(object, usable) : [];
      if (usable.length === 0) throw missingReference(kind, id, pointerOf([member]));
    }
    return usable;
  }

  /** The JSON texts of members of a mirrored request. */
  edits(): ReadonlyMap<string, string> {
    const edits = new Map<string, string>();
    const { references, stores, dialect } = this.#parts;
    for (const [member, value] of Object.entries(this.#upstreamMembers(references)))
      edits.set(member, JSON.stringify(value));
    if (dialect === 'openai-responses') edits.set('store', String(stores && this.#model !== undefined));
    return edits;
  }

  /**
   * The members of a request that the gateway encodes for an upstream of the client's own format. Throws
   * `invalid_request` for responses, whose ids would be lost.
   */
  encodedMembers(): JsonObject {
    const { references, dialect } = this.#parts;
    const [first] = references;
    if (!first || dialect === 'google-generate') return this.#upstreamMembers(references);
    const message =
      `${first.member} cannot be sent together with items of other models or with a compaction. ` +
      'Send the whole conversation instead.';
    throw invalidRequest(message, pointerOf([first.member]));
  }

  #upstreamMembers(references: readonly Reference[]): JsonObject {
    return Object.fromEntries(
      references.map(({ member, kind, object }) => {
        const id = object?.upstreamId ?? '';
        return [member, kind === 'cache' ? `cachedContents/${id}` : id];
      }),
    );
  }

  /**
   * The bytes of a mirrored answer, or of an event of it, with the client's ids. `upstreamId` is the
   * upstream's id of the answer.
   */
  answer(bytes: Buffer, upstreamId: string, candidate: Candidate): Buffer {
    return replaceIds(bytes, this.#names(upstreamId, candidate));
  }

  /** Names the answer's stored objects in the events of a mirrored stream, after `rename`. */
  renamer(candidate: Candidate, rename: Rename): Rename {
    let upstreamId = '';
    return (bytes, events) => {
      const start = events.find((event) => event.type === 'start');
      if (start) upstreamId = start.id;
      return this.answer(rename(bytes, events), upstreamId, candidate);
    };
  }

  /** The ids of the upstream and those of the client. */
  #names(upstreamId: string, candidate: Candidate): ReadonlyMap<string, string> {
    const { references, ids, walletId } = this.#parts;
    const names = new Map<string, string>();
    for (const { id, object } of references) if (object) names.set(object.upstreamId, id);
    if (!this.namesAnswer || this.#model === undefined || upstreamId === '') return names;
    if (!isPlainId(upstreamId)) throw unreadableAnswer('the id of the answer has an unusual shape');
    const object: StoredObject = { kind: 'response', ...placeOf(candidate), model: this.#model, upstreamId };
    return names.set(upstreamId, ids.seal(object, walletId));
  }

  /** The failure for an upstream's refusal that is about an object that the request names. */
  refusal(refused: { status: number; body: string }, dialect: UpstreamDialect): GatewayError | undefined {
    const { references } = this.#parts;
    const [first] = references;
    if (!first) return undefined;
    const missing = missingReference(first.kind, first.id, pointerOf([first.member]));
    const names = references.map(({ id, object }): [string, string] => [object?.upstreamId ?? id, id]);
    return refusalOf(refused, { dialect, missing, names: new Map(names), isOnlyAboutIt: false });
  }
}
