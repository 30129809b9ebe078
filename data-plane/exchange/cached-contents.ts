/**
 * Creates and prolongs Google's cached contents, each for the price of one request: providers charge for the
 * time that they are stored. https://ai.google.dev/api/caching
 */
import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '@gateway/shared/failures';
import type { TokenCounts } from '@gateway/shared/records';
import { invalidRequest } from '../call/refusals.ts';
import type { Call } from '../call/call.ts';
import type { CompiledRoute, SoldModel } from '../config/config.ts';
import { STORED_MEMBERS } from '../dialects/index.ts';
import { numberOf, objectOf, textOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { pointerOf } from '../dialects/member-table.ts';
import { unreadableAnswer } from '../dialects/upstream-errors.ts';
import { editObject, readObject } from '../state/edit-object.ts';
import { missingObject } from '../state/missing.ts';
import { placeOf, routesTo } from '../state/place.ts';
import { refusalOf } from '../state/refusal.ts';
import { isPlainId } from '../state/replace-ids.ts';
import type { StoredObject } from '../state/sealed-ids.ts';
import type { AnsweredAttempt, Candidate } from '../upstreams/attempt.ts';
import { addressOf } from '../upstreams/connections.ts';
import type { OutgoingRequest } from '../upstreams/send.ts';
import type { StateContext } from './chat-state.ts';
import { stateContext } from './chat-state.ts';
import { refuseLosses } from './dropped.ts';
import type { Answer, Exchange } from './exchange.ts';
import { replaceMembers } from './json-members.ts';
import { refusePriced, refuseStored, unknownOf } from './mirror.ts';
import { outgoingHeaders } from './outgoing-headers.ts';
import type { RequestBody } from './request-body.ts';
import { parseRequestBody } from './request-body.ts';
import { wholeAnswer } from './whole-answer.ts';

const DIALECT = 'google-generate';
const COLLECTION = 'cachedContents/';
/** Maximum size of an upstream's answer, in bytes: it repeats no content. */
const ANSWER_BYTES = 1024 * 1024;
const DAY_SECONDS = 86_400;
/** A duration of Google's APIs: seconds with up to nine decimals. */
const DURATION = /^(\d{1,12})(?:\.\d{1,9})?s$/;

interface CacheInput {
  body: RequestBody;
  headers: IncomingHttpHeaders;
  query: URLSearchParams;
  state: StateContext | undefined;
  /** The name of the cached content that is changed; undefined for a new one. */
  id: string | undefined;
  /** Time of arrival in ms of the wall clock. */
  at: number;
}

/**
 * The exchange that creates a cached content, or changes the life of the one with this id. Throws
 * `invalid_request` naming the parameter, and `not_found`.
 */
export async function openCachedContent(
  call: Call,
  { id, limitBytes }: { id?: string; limitBytes: number },
): Promise<Exchange> {
  const body = parseRequestBody(await call.body(limitBytes), STORED_MEMBERS.cache);
  refuseStored(body);
  const { headers, query, at } = call;
  return new CacheExchange({ body, headers, query, at, id, state: stateContext(call, DIALECT) });
}

class CacheExchange implements Exchange {
  readonly preferred = DIALECT;
  readonly capable = [DIALECT] as const;
  readonly streamed = false;
  readonly model: string;
  readonly #input: CacheInput;
  readonly #object: StoredObject | undefined;
  readonly #dropped: string[];

  constructor(input: CacheInput) {
    const { body, headers, id, state } = input;
    this.#input = input;
    this.#dropped = unknownOf(body).map(pointerOf);
    refuseLosses(this.#dropped, headers);
    if (id === undefined) {
      this.model = textOf(body.value.model).replace(/^models\//, '');
      return;
    }
    this.#object = state?.ids.open(id, 'cache', state.walletId);
    if (!this.#object) throw missingObject('cache', id);
    this.model = this.#object.model;
  }

  checkLimits(model: SoldModel): void {
    const { body, state, at } = this.#input;
    const { name, limits, storesState, stateRetentionDays } = model;
    if (!storesState || !state)
      throw new GatewayError(
        'not_implemented',
        `${name} stores no cached contents. Send the content itself with each request.`,
      );
    if (body.bytes.length > limits.maxBodyBytes)
      throw invalidRequest(
        `${name} takes requests of at most ${limits.maxBodyBytes} bytes. Send a smaller one.`,
      );
    refusePriced(body, model);
    checkLife(body.value, { at, maxSeconds: stateRetentionDays * DAY_SECONDS });
  }

  usableRoutes(routes: readonly CompiledRoute[]): readonly CompiledRoute[] {
    const native = routes.filter(({ provider: { protocols } }) => protocols.includes(DIALECT));
    const usable = this.#object ? routesTo(this.#object, native) : native;
    if (usable.length > 0) return usable;
    const { id } = this.#input;
    if (id !== undefined) throw missingObject('cache', id);
    throw new GatewayError(
      'not_implemented',
      `No upstream of ${this.model} stores cached contents. Send the content itself with each request.`,
    );
  }

  outgoing(candidate: Candidate): OutgoingRequest {
    const { body, headers, query } = this.#input;
    const edits = new Map<string, string | undefined>();
    if (!this.#object) edits.set('model', JSON.stringify(`models/${candidate.route.upstreamModel}`));
    for (const name of this.#object ? ['model', 'name'] : ['name'])
      if (name in body.value) edits.set(name, undefined);
    const mask = query.get('updateMask') ?? query.get('update_mask');
    const below = this.#object ? `/${this.#object.upstreamId}` : '';
    const update = this.#object && mask !== null ? `?updateMask=${encodeURIComponent(mask)}` : '';
    return {
      method: this.#object ? 'PATCH' : 'POST',
      path: `${addressOf(candidate.provider).prefix}/cachedContents${below}${update}`,
      body: replaceMembers(body.bytes, body.members, { edits, removals: unknownOf(body) }),
      headers: {
        'content-type': 'application/json',
        ...outgoingHeaders(candidate, headers, 'application/json'),
      },
    };
  }

  refusal(refused: { status: number; body: string }, { dialect }: Candidate): GatewayError | undefined {
    const { id } = this.#input;
    if (!this.#object || id === undefined) return undefined;
    const names = new Map([[this.#object.upstreamId, id]]);
    return refusalOf(refused, { dialect, names, missing: missingObject('cache', id), isOnlyAboutIt: true });
  }

  async receive(attempt: AnsweredAttempt): Promise<Answer> {
    const bytes = await attempt.answer.whole(ANSWER_BYTES);
    const value = readObject(bytes);
    const name = this.#sealedName(value, attempt.candidate);
    attempt.settle();
    return wholeAnswer(attempt, {
      contentType: 'application/json',
      bytes: editObject(bytes, value, { name, model: `models/${this.model}` }),
      tokens: tokensOf(value),
      dropped: this.#dropped,
    });
  }

  #sealedName(value: JsonObject, candidate: Candidate): string {
    const { state, id } = this.#input;
    if (id !== undefined) return id;
    const name = textOf(value.name);
    const upstreamId = name.slice(COLLECTION.length);
    if (!state || !name.startsWith(COLLECTION) || !isPlainId(upstreamId))
      throw unreadableAnswer('the cached content has no name');
    const place = { ...placeOf(candidate), model: this.model };
    return state.ids.seal({ kind: 'cache', ...place, upstreamId }, state.walletId);
  }
}

/** Throws `invalid_request` for a life above the maximum. Without one, Google stores for an hour. */
function checkLife(value: JsonObject, { at, maxSeconds }: { at: number; maxSeconds: number }): void {
  const days = maxSeconds / DAY_SECONDS;
  const tooLong = (member: string) =>
    invalidRequest(`${member} must be a time of at most ${days} days. Choose a shorter one.`, `/${member}`);
  if (value.ttl !== undefined && value.ttl !== null) {
    const seconds = Number(DURATION.exec(textOf(value.ttl))?.[1] ?? Number.POSITIVE_INFINITY);
    if (seconds > maxSeconds) throw tooLong('ttl');
  }
  for (const member of ['expireTime', 'expire_time']) {
    const expiry = value[member];
    if (expiry === undefined || expiry === null) continue;
    if (!(Date.parse(textOf(expiry)) <= at + maxSeconds * 1_000)) throw tooLong(member);
  }
}

function tokensOf(value: JsonObject): TokenCounts {
  const input = numberOf(objectOf(value.usageMetadata).totalTokenCount) ?? null;
  return { input, output: null, cached: null, reasoning: null };
}
