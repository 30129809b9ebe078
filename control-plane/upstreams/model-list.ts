/** Reads the list of models that a provider offers, with its credential. */
import { request } from 'undici';
import { DEFAULT_ACCESS } from '@gateway/shared/clouds/access';
import type { Fault } from '@gateway/shared/upstream-health';
import { UserFailure } from '../graphql/errors.ts';
import { checkBaseUrl } from './address-guard.ts';
import { cloudRequest } from './probe-access.ts';
import { ProbeDispatchers } from './probe-dispatcher.ts';
import { hasModelList } from './probe-target.ts';
import type { ProviderTarget } from './probe-target.ts';
import { faultOfStatus, isTimeout } from './probe.ts';

const TIMEOUT_MS = 15_000;
/** Maximum size of the list, in bytes. */
const LIST_BYTES = 4 * 1024 * 1024;
/** Maximum number of models that are shown. */
const MODELS_MAX = 1_000;
/** Names of models as routes accept them. */
const NAME = /^[^\s?#]{1,200}$/;

/** How a provider answered. */
interface ListAnswer {
  status: number | null;
  latencyMs: number;
  /** Category of the failure; null if the status is 200. */
  fault: Fault | null;
  text: string;
}

/** Asks for the list. Never throws: failures are part of the result. */
export async function askForModels(target: ProviderTarget): Promise<ListAnswer> {
  const dispatchers = new ProbeDispatchers(target, { timeoutMs: TIMEOUT_MS, bytesMax: LIST_BYTES });
  const startedAt = performance.now();
  const latency = (): number => Math.round(performance.now() - startedAt);
  try {
    await checkBaseUrl(target.baseUrl, target.allowPrivate);
    const { url, headers } = await cloudRequest(listRequest(target), {
      ...target,
      // A template is about the paths of requests for a model.
      access: target.access && { ...target.access, pathTemplate: null },
      dispatcher: dispatchers.tokens,
      timeoutMs: TIMEOUT_MS,
    });
    const { statusCode, body } = await request(url, {
      method: 'GET',
      dispatcher: dispatchers.requests,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { 'accept-encoding': 'identity', ...headers },
    });
    const text = await body.text();
    const fault = statusCode === 200 ? null : faultOfStatus(statusCode);
    return { status: statusCode, latencyMs: latency(), fault, text };
  } catch (error) {
    const fault = isTimeout(error) ? 'TIMEOUT' : 'FAILED';
    return { status: null, latencyMs: latency(), fault, text: '' };
  } finally {
    await dispatchers.destroy();
  }
}

/**
 * The provider's names of its models, sorted; at most MODELS_MAX. Throws INVALID with the reason if there is
 * no readable list.
 */
export async function readModels(target: ProviderTarget): Promise<string[]> {
  if (!hasModelList(target.access)) throw noList('this kind of upstream has none that can be read here');
  const { status, text } = await askForModels(target);
  if (status === null) throw noList('it could not be reached, or answered too slowly or too much');
  if (status !== 200) throw noList(`it answered with status ${status}`);
  return namesIn(parse(text));
}

/**
 * OpenAI: https://platform.openai.com/docs/api-reference/models/list, Anthropic (up to 1000 a page):
 * https://docs.anthropic.com/en/api/models-list, Google: https://ai.google.dev/api/models#method:-models.list
 */
function listRequest({ protocol, secret, access }: ProviderTarget): Parameters<typeof cloudRequest>[0] {
  // Secrets of the other kinds are never sent as they are.
  const key = (access ?? DEFAULT_ACCESS).auth === 'API_KEY' ? secret : null;
  const common = { method: 'GET', model: '', body: null } as const;
  if (protocol === 'anthropic-messages')
    return {
      ...common,
      path: '/models?limit=1000',
      headers: { 'anthropic-version': '2023-06-01', ...(key && { 'x-api-key': key }) },
    };
  if (protocol === 'google-generate')
    return { ...common, path: '/models?pageSize=1000', headers: key ? { 'x-goog-api-key': key } : {} };
  return { ...common, path: '/models', headers: key ? { authorization: `Bearer ${key}` } : {} };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw noList('its answer is not JSON');
  }
}

/** The names in `data[].id` or `models[].name`, without Google's prefix. */
function namesIn(list: unknown): string[] {
  const { data, models }: { data?: unknown; models?: unknown } =
    typeof list === 'object' && list !== null ? list : {};
  const items: unknown = data ?? models;
  if (!Array.isArray(items)) throw noList('its answer is no list of models');
  const names = items.flatMap((item: unknown) => {
    const { id, name }: { id?: unknown; name?: unknown } =
      typeof item === 'object' && item !== null ? item : {};
    const given = id ?? name;
    const text = typeof given === 'string' ? given.replace(/^models\//, '') : '';
    return NAME.test(text) ? [text] : [];
  });
  return [...new Set(names)].sort().slice(0, MODELS_MAX);
}

function noList(reason: string): UserFailure {
  const message = `The provider gave no list of models: ${reason}. Probe it, or add routes by hand.`;
  return new UserFailure('INVALID', message, 'providerId');
}
