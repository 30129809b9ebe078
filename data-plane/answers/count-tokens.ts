/** Answers token counts for free: from an upstream of the client's format if there is one, else estimated. */
import type { Family } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import { admitFree } from '../admission/admit.ts';
import type { Caller } from '../admission/authenticate.ts';
import { findPricedModel } from '../admission/find-model.ts';
import { Slot } from '../admission/slot.ts';
import type { Call } from '../call/call.ts';
import type { Services } from '../services.ts';
import type { CompiledRoute } from '../config/config.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { isObject } from '../dialects/fields.ts';
import { refuseLosses } from '../exchange/dropped.ts';
import { mirrored, refuseStored } from '../exchange/mirror.ts';
import { parseRequestBody } from '../exchange/request-body.ts';
import type { RequestBody } from '../exchange/request-body.ts';
import type { ForwardedRequest } from '../upstreams/attempt.ts';
import { plainAuthorization } from '../upstreams/clouds/cloud-requests.ts';
import { addressOf } from '../upstreams/connections.ts';

/** Maximum size of a request, in bytes. */
const BODY_BYTES = 32 * 1024 * 1024;
/** Maximum size of an upstream's answer, in bytes. */
const ANSWER_BYTES = 64 * 1024;
/** Average of English prose in current tokenizers. */
const CHARACTERS_PER_TOKEN = 4;
/** Estimate for an image or a document of any size, in tokens. */
const MEDIA_TOKENS = 1_000;
/** Minimum length of a text without white space that counts as base64 of media, in characters. */
const MEDIA_CHARACTERS = 4_096;

/** The token count in one format. */
export interface CountFormat {
  credentials: 'bearer' | 'messages' | 'generative';
  family: Family;
  /** Path below the upstream's base URL. */
  path(model: string): string;
  /** Member of the answer that holds the number. */
  field: string;
  /** Further members of the answer. */
  rest?: Record<string, string>;
}

/** https://docs.anthropic.com/en/api/messages-count-tokens */
export const MESSAGES_COUNT: CountFormat = {
  credentials: 'messages',
  family: 'messages',
  path: () => '/messages/count_tokens',
  field: 'input_tokens',
};
/** https://platform.openai.com/docs/api-reference/responses/input-tokens */
export const RESPONSES_COUNT: CountFormat = {
  credentials: 'bearer',
  family: 'responses',
  path: () => '/responses/input_tokens',
  field: 'input_tokens',
  rest: { object: 'response.input_tokens' },
};
/** https://ai.google.dev/api/tokens */
export const GENERATIVE_COUNT: CountFormat = {
  credentials: 'generative',
  family: 'generative_language',
  path: (model) => `/models/${encodeURIComponent(model)}:countTokens`,
  field: 'totalTokens',
};

/** The format of a request for a count, and its model if the path names it. */
interface CountTarget {
  format: CountFormat;
  dialect: Dialect;
  model?: string;
}

/** Answers with the upstream's count, or with an estimate and the header `x-gateway-estimated: 1`. */
export async function answerTokenCount(call: Call, services: Services, target: CountTarget): Promise<void> {
  const caller = admitFree(call, target.format.credentials, services);
  const slot = new Slot(caller, call.config, services);
  call.incoming.payer = slot;
  try {
    await answerCount(call, services, { ...target, caller });
  } finally {
    slot.leave();
  }
}

async function answerCount(
  call: Call,
  services: Services,
  { caller, ...target }: CountTarget & { caller: Caller },
): Promise<void> {
  const body = parseRequestBody(await call.body(BODY_BYTES), target.dialect.inbound.mirror?.members);
  refuseStored(body);
  const name = target.model ?? body.value.model;
  const { model } = findPricedModel(call.config, caller, typeof name === 'string' ? name : '');
  const { format } = target;
  const native = call.config
    .routesFor(model.id, format.family)
    .filter(({ provider }) => provider.protocols.includes(target.dialect.name));
  const { walletId } = caller.key;
  const counted = await askNative(call, services, {
    ...target,
    walletId,
    name: model.name,
    body,
    native,
    passUnknown: model.passUnknown,
  });
  if (counted === undefined) call.reply.header('x-gateway-estimated', '1');
  const answer = { ...format.rest, [format.field]: counted ?? estimateTokens(body.value) };
  call.reply.whole(200, 'application/json', JSON.stringify(answer));
}

interface NativeCount extends CountTarget {
  walletId: string;
  /** The catalog's name of the model. */
  name: string;
  body: RequestBody;
  passUnknown: boolean;
  native: readonly CompiledRoute[];
}

/**
 * The count of an upstream; undefined if none can be reached, because an estimate is better than a failure.
 */
async function askNative(call: Call, services: Services, count: NativeCount): Promise<number | undefined> {
  if (count.native.length === 0) return undefined;
  try {
    return await services.upstreams.ask(call, countRequest(call, count), {
      walletId: count.walletId,
      model: count.name,
      routes: count.native,
    });
  } catch (error) {
    const isUpstreams = !(error instanceof GatewayError) || error.code.startsWith('upstream_');
    if (!isUpstreams) throw error;
    return undefined;
  }
}

function countRequest(call: Call, count: NativeCount): ForwardedRequest<number> {
  const { format, dialect, body, passUnknown } = count;
  return {
    preferred: dialect.name,
    outgoing: (candidate) => {
      const { provider, route } = candidate;
      const { name, inbound } = dialect;
      const model = route.upstreamModel;
      const options = {
        dialect: name,
        model,
        streamed: false,
        counts: true,
        tables: inbound.mirror,
        passUnknown,
      };
      const request = mirrored(body, call.headers, options);
      refuseLosses(request.dropped, call.headers);
      return {
        method: 'POST',
        path: addressOf(provider).prefix + format.path(model),
        body: request.body,
        headers: {
          'content-type': 'application/json',
          'accept-encoding': 'identity',
          ...plainAuthorization(candidate),
          ...request.headers,
        },
      };
    },
    receive: async ({ answer, settle }) => {
      const value: unknown = JSON.parse((await answer.whole(ANSWER_BYTES)).toString('utf8'));
      const tokens = isObject(value) ? value[format.field] : undefined;
      if (typeof tokens !== 'number')
        throw new GatewayError('upstream_failed', 'The upstream sent no token count. Try again.');
      settle();
      return tokens;
    },
  };
}

/**
 * An estimate: a quarter of the characters of all texts, and a fixed number for each medium. For English
 * prose it is within about 20 %.
 */
function estimateTokens(value: unknown): number {
  if (typeof value === 'string') {
    const isMedia = value.length > MEDIA_CHARACTERS && !/\s/.test(value.slice(0, MEDIA_CHARACTERS));
    return isMedia ? MEDIA_TOKENS : Math.ceil(value.length / CHARACTERS_PER_TOKEN);
  }
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, member) => sum + estimateTokens(member), 0);
}
