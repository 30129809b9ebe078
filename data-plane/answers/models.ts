/** The models lists, in the style of whoever asks: free, and only what the key may use on this host. */
import { isChatFamily } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import { hasGenerativeKey } from '../authenticate.ts';
import type { Caller, Credentials } from '../authenticate.ts';
import { callerOf } from '../rate.ts';
import type { Call } from '../call.ts';
import type { SoldModel } from '../config/config.ts';
import type { Services } from '../services.ts';

type Style = 'chat' | 'chat-with-messages' | 'messages' | 'generative';

/** Items that one page of the messages style holds when the client names no limit, and at most. */
const PAGE_DEFAULT = 20;
const PAGE_MAX = 1_000;

/** Answers with all models, or with one where the path names it. */
export async function answerModels(call: Call, services: Services, target: ModelsTarget): Promise<void> {
  const caller = callerOf(call, target.credentials, services);
  services.freeRequests.take(caller.key.id);
  const style = target.credentials === 'generative' ? 'generative' : styleOf(call);
  const models = usableModels(call, caller);
  if (target.model === undefined) return send(call, listOf(style, models, call.query));
  const name = target.model;
  const model = models.find((candidate) => candidate.name === name);
  if (!model)
    throw new GatewayError('model_not_found', 'There is no such model. GET /v1/models lists the names.');
  send(call, itemOf(style, model));
}

/** Which models are asked for, and how the route takes its key. */
export interface ModelsTarget {
  credentials: Credentials;
  model?: string;
}

function styleOf(call: Call): Style {
  if (hasGenerativeKey(call)) return 'generative';
  if (call.headers['x-api-key'] !== undefined) return 'messages';
  // The current Anthropic SDK sends its key as Bearer; its models.list() needs the fields of both styles.
  return call.headers['anthropic-version'] === undefined ? 'chat' : 'chat-with-messages';
}

function usableModels({ config }: Call, { key, pool }: Caller): SoldModel[] {
  const sold: Iterable<SoldModel> = pool ? pool.models : config.models();
  return [...sold].filter(
    ({ name, prices }) =>
      prices[key.group] !== undefined && (key.allowedModels === null || key.allowedModels.includes(name)),
  );
}

function listOf(style: Style, models: readonly SoldModel[], query: URLSearchParams): unknown {
  const items = models.map((model) => itemOf(style, model));
  switch (style) {
    case 'generative':
      return { models: items };
    case 'chat':
      return { object: 'list', data: items };
    case 'chat-with-messages':
      return { object: 'list', ...pageOf(style, models, query) };
    case 'messages':
      return pageOf(style, models, query);
  }
}

/** https://docs.anthropic.com/en/api/models-list */
function pageOf(style: Style, models: readonly SoldModel[], query: URLSearchParams): Record<string, unknown> {
  const after = models.findIndex(({ name }) => name === query.get('after_id'));
  const wished = Number(query.get('limit') ?? PAGE_DEFAULT);
  const limit = Number.isInteger(wished) && wished > 0 ? Math.min(wished, PAGE_MAX) : PAGE_DEFAULT;
  const page = models.slice(after + 1, after + 1 + limit);
  return {
    data: page.map((model) => itemOf(style, model)),
    has_more: after + 1 + limit < models.length,
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
  };
}

function itemOf(style: Style, model: SoldModel): Record<string, unknown> {
  const chat = {
    id: model.name,
    object: 'model',
    created: Math.floor(model.createdAt / 1_000),
    owned_by: 'gateway',
  };
  const messages = {
    type: 'model',
    id: model.name,
    display_name: model.displayName,
    created_at: new Date(model.createdAt).toISOString(),
  };
  switch (style) {
    case 'chat':
      return chat;
    case 'messages':
      return messages;
    case 'chat-with-messages':
      return { ...chat, ...messages };
    case 'generative':
      return {
        name: `models/${model.name}`,
        baseModelId: model.name,
        version: '1',
        displayName: model.displayName,
        description: model.description,
        inputTokenLimit: model.contextTokens,
        outputTokenLimit: model.contextTokens,
        supportedGenerationMethods: methodsOf(model),
      };
  }
}

/** https://ai.google.dev/api/models#Model */
function methodsOf({ families }: SoldModel): string[] {
  return [
    ...(families.some(isChatFamily) ? ['generateContent', 'streamGenerateContent', 'countTokens'] : []),
    ...(families.includes('embeddings') ? ['embedContent', 'batchEmbedContents'] : []),
  ];
}

function send(call: Call, value: unknown): void {
  call.reply.whole(200, 'application/json', JSON.stringify(value));
}
