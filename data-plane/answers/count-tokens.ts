/**
 * Counting tokens before a request: asked of the upstream where it speaks the client's format, else
 * estimated. Free.
 */
import { GatewayError } from '@gateway/shared/failures';
import { callerOf } from '../rate.ts';
import { findSold } from '../pipeline.ts';
import type { Call } from '../call.ts';
import type { Services } from '../services.ts';
import type { CompiledRoute } from '../config/config.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { isObject } from '../dialects/fields.ts';
import type { Question } from '../exchange/exchange.ts';
import { mirrorBody, mirrorHeaders } from '../exchange/mirror.ts';
import { parseRequestBody } from '../exchange/request-body.ts';
import type { RequestBody } from '../exchange/request-body.ts';
import { addressOf } from '../upstreams/pools.ts';

const BODY_BYTES = 32 * 1024 * 1024;
const ANSWER_BYTES = 64 * 1024;
/** English prose in the tokenizers of today; the estimate is documented as such. */
const CHARACTERS_PER_TOKEN = 4;
/** What an image or a document counts in the estimate, whatever its size, in tokens. */
const MEDIA_TOKENS = 1_000;
/** Base64 of media is longer than any word or id. */
const MEDIA_CHARACTERS = 4_096;

/** How one format asks for a count and answers with it. */
export interface CountFormat {
  credentials: 'messages' | 'generative';
  /** Path after the upstream's base URL. */
  path(model: string): string;
  /** The name under which the answer carries the number. */
  field: string;
}

/** https://docs.anthropic.com/en/api/messages-count-tokens */
export const MESSAGES_COUNT: CountFormat = {
  credentials: 'messages',
  path: () => '/messages/count_tokens',
  field: 'input_tokens',
};
/** https://ai.google.dev/api/tokens */
export const GENERATIVE_COUNT: CountFormat = {
  credentials: 'generative',
  path: (model) => `/models/${encodeURIComponent(model)}:countTokens`,
  field: 'totalTokens',
};

/** What is counted: by which format's rules, and the model where the path names it. */
export interface CountTarget {
  format: CountFormat;
  dialect: Dialect;
  model?: string;
}

/**
 * Answers with the upstream's own count, or with an estimate that the header `x-gateway-estimated: 1`
 * marks.
 */
export async function answerTokenCount(call: Call, services: Services, target: CountTarget): Promise<void> {
  const caller = callerOf(call, target.format.credentials, services);
  services.freeRequests.take(caller.key.id);
  const body = parseRequestBody(await call.body(BODY_BYTES));
  const name = target.model ?? body.value.model;
  const { model } = findSold(call.config, caller, typeof name === 'string' ? name : '');
  const family = target.format.credentials === 'messages' ? 'messages' : 'generative_language';
  const native = call.config
    .routesFor(model.id, family)
    .filter(({ provider }) => provider.protocols.includes(target.dialect.name));
  const counted = await askNative(call, services, { ...target, body, native });
  if (counted === undefined) call.reply.header('x-gateway-estimated', '1');
  const answer = { [target.format.field]: counted ?? estimateTokens(body.value) };
  call.reply.whole(200, 'application/json', JSON.stringify(answer));
}

interface NativeCount extends CountTarget {
  body: RequestBody;
  native: readonly CompiledRoute[];
}

/** Undefined where no upstream can tell: the estimate is then better than a failure. */
async function askNative(call: Call, services: Services, count: NativeCount): Promise<number | undefined> {
  if (count.native.length === 0) return undefined;
  try {
    return await services.upstreams.ask(call, countQuestion(call, count), { routes: count.native });
  } catch (error) {
    const passes = error instanceof GatewayError && !error.code.startsWith('upstream_');
    if (passes) throw error;
    return undefined;
  }
}

function countQuestion(call: Call, { format, dialect, body }: NativeCount): Question<number> {
  return {
    preferred: dialect.name,
    outgoing: ({ provider, route, credential }) => ({
      method: 'POST',
      path: addressOf(provider).prefix + format.path(route.upstreamModel),
      body: mirrorBody(body, { dialect: dialect.name, model: route.upstreamModel, streamed: false }),
      headers: {
        'content-type': 'application/json',
        'accept-encoding': 'identity',
        ...(credential ? dialect.outbound.authorize(credential.secret) : {}),
        ...mirrorHeaders(call.headers, dialect.name),
      },
    }),
    receive: async ({ answer, settle }) => {
      const value: unknown = JSON.parse((await answer.whole(ANSWER_BYTES)).toString('utf8'));
      const tokens = isObject(value) ? value[format.field] : undefined;
      if (typeof tokens !== 'number')
        throw new GatewayError('upstream_failed', 'The model could not count. Try again.');
      settle();
      return tokens;
    },
  };
}

/**
 * A quarter of the characters of all texts, and a flat amount for each medium: within some 20 % for English
 * prose.
 */
export function estimateTokens(value: unknown): number {
  if (typeof value === 'string') {
    const isMedia = value.length > MEDIA_CHARACTERS && !/\s/.test(value.slice(0, MEDIA_CHARACTERS));
    return isMedia ? MEDIA_TOKENS : Math.ceil(value.length / CHARACTERS_PER_TOKEN);
  }
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, member) => sum + estimateTokens(member), 0);
}
