/** Answers model lists for free, in the client's style, with the models that the key may use on this host. */
import { isChatFamily } from '@gateway/shared/catalog';
import { GatewayError } from '@gateway/shared/failures';
import { hasGenerativeKey } from '../admission/authenticate.ts';
import type { Credentials } from '../admission/authenticate.ts';
import { admitFree } from '../admission/admit.ts';
import { usableModels } from '../admission/find-model.ts';
import type { Call } from '../call/call.ts';
import type { SoldModel } from '../config/config.ts';
import type { Services } from '../services.ts';

type Style = 'chat' | 'chat-with-messages' | 'messages' | 'generative';

/** Default and maximum length of a page in the messages style. */
const PAGE_DEFAULT = 20;
const PAGE_MAX = 1_000;

/** Answers with all models, or with the one that the path names. Throws `model_not_found`. */
export async function answerModels(call: Call, services: Services, target: ModelsTarget): Promise<void> {
  const caller = admitFree(call, target.credentials, services);
  const style = target.credentials === 'generative' ? 'generative' : styleOf(call);
  const models = usableModels(call.config, caller);
  if (target.model === undefined) return send(call, listOf(style, models, call.query));
  const name = target.model;
  const model = models.find((candidate) => candidate.name === name);
  if (!model)
    throw new GatewayError('model_not_found', 'There is no such model. GET /v1/models lists the names.');
  send(call, itemOf(style, model));
}

/** Where the endpoint takes its key, and the model that the path names. */
interface ModelsTarget {
  credentials: Credentials;
  model?: string;
}

/** The style of the header that carries the key. */
function styleOf(call: Call): Style {
  if (hasGenerativeKey(call)) return 'generative';
  if (call.headers['x-api-key'] !== undefined) return 'messages';
  // Anthropic's current SDK sends its key as Bearer, so the answer needs the fields of both styles.
  return call.headers['anthropic-version'] === undefined ? 'chat' : 'chat-with-messages';
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

/** One page of the messages style: https://docs.anthropic.com/en/api/models-list */
function pageOf(style: Style, models: readonly SoldModel[], query: URLSearchParams): Record<string, unknown> {
  const after = models.findIndex(({ name }) => name === query.get('after_id'));
  const requested = Number(query.get('limit') ?? PAGE_DEFAULT);
  const isValid = Number.isInteger(requested) && requested > 0;
  const limit = isValid ? Math.min(requested, PAGE_MAX) : PAGE_DEFAULT;
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

/** Generative-language methods of a model: https://ai.google.dev/api/models#Model */
function methodsOf({ families }: SoldModel): string[] {
  return [
    ...(families.some(isChatFamily) ? ['generateContent', 'streamGenerateContent', 'countTokens'] : []),
    ...(families.includes('embeddings') ? ['embedContent', 'batchEmbedContents'] : []),
  ];
}

function send(call: Call, value: unknown): void {
  call.reply.whole(200, 'application/json', JSON.stringify(value));
}
