/** Reads the list of models that a provider offers, with its credential. */
import { Agent, request } from 'undici';
import type { DialectName } from '@gateway/shared/catalog';
import type { Fault } from '@gateway/shared/upstream-health';
import { UserFailure } from '../graphql/errors.ts';
import { checkBaseUrl, publicLookup } from './address-guard.ts';
import { faultOfStatus, isTimeout } from './probe.ts';

const TIMEOUT_MS = 15_000;
/** Maximum size of the list, in bytes. */
const LIST_BYTES = 4 * 1024 * 1024;
/** Maximum number of models that are shown. */
const MODELS_MAX = 1_000;
/** Names of models as routes accept them. */
const NAME = /^[^\s?#]{1,200}$/;

/** The upstream whose list is read. */
interface ListTarget {
  protocol: DialectName;
  baseUrl: string;
  secret: string | null;
  allowPrivate: boolean;
}

/** How a provider answered. */
interface ListAnswer {
  status: number | null;
  latencyMs: number;
  /** Category of the failure; null if the status is 200. */
  fault: Fault | null;
  text: string;
}

/** Asks for the list. Never throws: failures are part of the result. */
export async function askForModels(target: ListTarget): Promise<ListAnswer> {
  const agent = new Agent({
    connect: { timeout: TIMEOUT_MS, ...(!target.allowPrivate && { lookup: publicLookup }) },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    maxResponseSize: LIST_BYTES,
  });
  const startedAt = performance.now();
  const latency = (): number => Math.round(performance.now() - startedAt);
  try {
    await checkBaseUrl(target.baseUrl, target.allowPrivate);
    const { query, headers } = listRequest(target);
    const { statusCode, body } = await request(`${target.baseUrl}/models${query}`, {
      method: 'GET',
      dispatcher: agent,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { accept: 'application/json', 'accept-encoding': 'identity', ...headers },
    });
    const text = await body.text();
    const fault = statusCode === 200 ? null : faultOfStatus(statusCode);
    return { status: statusCode, latencyMs: latency(), fault, text };
  } catch (error) {
    const fault = isTimeout(error) ? 'TIMEOUT' : 'FAILED';
    return { status: null, latencyMs: latency(), fault, text: '' };
  } finally {
    await agent.destroy();
  }
}

/**
 * The provider's names of its models, sorted; at most MODELS_MAX. Throws INVALID with the reason if there is
 * no readable list.
 */
export async function readModels(target: ListTarget): Promise<string[]> {
  const { status, text } = await askForModels(target);
  if (status === null) throw noList('it could not be reached, or answered too slowly or too much');
  if (status !== 200) throw noList(`it answered with status ${status}`);
  return namesIn(parse(text));
}

/**
 * OpenAI: https://platform.openai.com/docs/api-reference/models/list, Anthropic (up to 1000 a page):
 * https://docs.anthropic.com/en/api/models-list, Google: https://ai.google.dev/api/models#method:-models.list
 */
function listRequest({ protocol, secret }: ListTarget): { query: string; headers: Record<string, string> } {
  if (protocol === 'anthropic-messages')
    return {
      query: '?limit=1000',
      headers: { 'anthropic-version': '2023-06-01', ...(secret && { 'x-api-key': secret }) },
    };
  if (protocol === 'google-generate')
    return { query: '?pageSize=1000', headers: secret ? { 'x-goog-api-key': secret } : {} };
  return { query: '', headers: secret ? { authorization: `Bearer ${secret}` } : {} };
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
