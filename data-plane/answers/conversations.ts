/**
 * Creates conversations at an upstream, for free.
 * https://platform.openai.com/docs/api-reference/conversations
 */
import { GatewayError } from '@gateway/shared/failures';
import { usableModels } from '../admission/find-model.ts';
import type { Call } from '../call/call.ts';
import type { CompiledRoute, SoldModel } from '../config/config.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { DIALECTS, STORED_MEMBERS } from '../dialects/index.ts';
import { pointerOf } from '../dialects/member-table.ts';
import { unreadableAnswer } from '../dialects/upstream-errors.ts';
import { nameDropped, refuseLosses } from '../exchange/dropped.ts';
import { replaceMembers } from '../exchange/json-members.ts';
import { refusePriced, refuseStored, unknownOf } from '../exchange/mirror.ts';
import { outgoingHeaders } from '../exchange/outgoing-headers.ts';
import { parseRequestBody } from '../exchange/request-body.ts';
import type { Services } from '../services.ts';
import { editObject, readObject } from '../state/edit-object.ts';
import { nativeRoutes, placeOf } from '../state/place.ts';
import { isPlainId } from '../state/replace-ids.ts';
import type { ForwardedRequest } from '../upstreams/attempt.ts';
import { addressOf } from '../upstreams/connections.ts';
import { withFreeCaller } from './stored-objects.ts';
import type { StateCaller } from './stored-objects.ts';

/** Maximum size of a request about a conversation, in bytes: a request has at most 20 items. */
const CONVERSATION_BODY_BYTES = 4 * 1024 * 1024;
/** Maximum size of an upstream's answer, in bytes. */
const ANSWER_BYTES = 64 * 1024;
const DIALECT = 'openai-responses';

/**
 * Creates a conversation at the upstream of a model that stores state: of the one that `?model=` names, else
 * of the first one that the key may use. Throws `not_implemented` if there is none.
 */
export function createConversation(call: Call, services: Services): Promise<void> {
  const serve = async (known: StateCaller | undefined): Promise<void> => {
    const place = known && placeFor(call, known);
    if (!known || !place)
      throw new GatewayError(
        'not_implemented',
        'No model that this key may use stores conversations. Send the whole conversation with each request.',
      );
    const body = await conversationBody(call, place.model);
    const bytes = await services.upstreams.ask(
      call,
      createRequest(call, { body, known, model: place.model }),
      { walletId: known.walletId, model: place.model.name, routes: place.routes },
    );
    call.reply.whole(200, 'application/json', bytes);
  };
  return withFreeCaller(call, services, { credentials: 'bearer', serve });
}

/** The model of a new conversation, and the routes that can create it; undefined if there is none. */
function placeFor(
  { config, query }: Call,
  { caller }: StateCaller,
): { model: SoldModel; routes: readonly CompiledRoute[] } | undefined {
  const wanted = query.get('model');
  for (const model of usableModels(config, caller)) {
    if (!model.storesState || (wanted !== null && model.name !== wanted)) continue;
    const routes = nativeRoutes(config, model.id, DIALECT);
    if (routes.length > 0) return { model, routes };
  }
  return undefined;
}

/**
 * The checked body for the upstream. Throws `invalid_request` for items that name stored objects or that cost
 * more than a plain request. `model` is absent if the conversation exists.
 */
export async function conversationBody(call: Call, model?: SoldModel): Promise<Buffer> {
  const body = parseRequestBody(await call.body(CONVERSATION_BODY_BYTES), STORED_MEMBERS.conversation);
  refuseStored(body);
  if (model) refusePriced(body, model);
  const { items } = body.value;
  if (Array.isArray(items) && items.length > 0) checkItems(DIALECTS[DIALECT], items);
  const removals = unknownOf(body);
  const dropped = removals.map(pointerOf);
  refuseLosses(dropped, call.headers);
  nameDropped(dropped, call.reply);
  return replaceMembers(body.bytes, body.members, { edits: new Map(), removals });
}

/** Throws `invalid_request` for items that break the rules of `input`, such as references to stored items. */
function checkItems({ inbound }: Dialect, items: unknown[]): void {
  try {
    inbound.decodeRequest({ model: 'model', input: items }, {});
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { message, code, details } = error;
    const parameter = details.parameter?.replace('/input', '/items');
    throw new GatewayError(code, message.replace('/input', '/items'), {
      ...details,
      ...(parameter === undefined ? {} : { parameter }),
    });
  }
}

function createRequest(
  call: Call,
  { body, known, model }: { body: Buffer; known: StateCaller; model: SoldModel },
): ForwardedRequest<Buffer> {
  return {
    preferred: DIALECT,
    outgoing: (candidate) => ({
      method: 'POST',
      path: `${addressOf(candidate.provider).prefix}/conversations`,
      body,
      headers: {
        'content-type': 'application/json',
        ...outgoingHeaders(candidate, call.headers, 'application/json'),
      },
    }),
    receive: async ({ answer, candidate, settle }) => {
      const bytes = await answer.whole(ANSWER_BYTES);
      const value = readObject(bytes);
      if (!isPlainId(value.id)) throw unreadableAnswer('the conversation has no id');
      settle();
      const place = { ...placeOf(candidate), model: model.name };
      const id = known.ids.seal({ kind: 'conversation', ...place, upstreamId: value.id }, known.walletId);
      return editObject(bytes, value, { id });
    },
  };
}
