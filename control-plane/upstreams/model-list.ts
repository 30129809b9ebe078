/** Reads the list of models that a provider offers, with its credential. */
import { request } from 'undici';
import type { Fault } from '@gateway/shared/upstream-health';
import { UserFailure } from '../graphql/errors.ts';
import { readAnswer } from '../process/read-answer.ts';
import { checkBaseUrl } from './address-guard.ts';
import { cloudRequest } from './probe-access.ts';
import { listRequests, namesIn } from './model-requests.ts';
import type { ListRequest } from './model-requests.ts';
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

/** Asks for the first list. Never throws: failures are part of the result. */
export async function askForModels(target: ProviderTarget): Promise<ListAnswer> {
  const [first] = listRequests(target);
  if (!first) throw new Error('every upstream has a list');
  return askForList(target, first);
}

async function askForList(target: ProviderTarget, list: ListRequest): Promise<ListAnswer> {
  const dispatchers = new ProbeDispatchers(target, { timeoutMs: TIMEOUT_MS, bytesMax: LIST_BYTES });
  const startedAt = performance.now();
  const latency = (): number => Math.round(performance.now() - startedAt);
  try {
    await checkBaseUrl(list.baseUrl, target.allowPrivate);
    const { url, headers } = await cloudRequest(
      { ...list, method: 'GET', model: '', body: null },
      {
        ...target,
        baseUrl: list.baseUrl,
        // Templates and styles are about the paths of requests for a model.
        access: target.access && { ...target.access, pathTemplate: null, style: 'STANDARD' },
        dispatcher: dispatchers.tokens,
        timeoutMs: TIMEOUT_MS,
      },
    );
    const isOwnHost = new URL(list.baseUrl).host === new URL(target.baseUrl).host;
    const { statusCode, body } = await request(url, {
      method: 'GET',
      // Another host never sees the client certificate.
      dispatcher: isOwnHost ? dispatchers.requests : dispatchers.tokens,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { 'accept-encoding': 'identity', ...headers },
    });
    const bytes = await readAnswer(body, LIST_BYTES);
    if (bytes === null) return { status: statusCode, latencyMs: latency(), fault: 'FAILED', text: '' };
    const text = bytes.toString('utf8');
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
  if (!hasModelList(target.access)) throw noList('only nodes have the identity with which it is asked');
  const lists = await Promise.all(
    listRequests(target).map(async (list) => namesOf(await askForList(target, list), target)),
  );
  const names = lists.flat().filter((name) => NAME.test(name));
  return [...new Set(names)].sort().slice(0, MODELS_MAX);
}

function namesOf({ status, text }: ListAnswer, { protocol }: ProviderTarget): string[] {
  if (status === null) throw noList('it could not be reached, or answered too slowly or too much');
  if (status !== 200) throw noList(`it answered with status ${status}`);
  const names = namesIn(parse(text), protocol);
  if (!names) throw noList('its answer is no list of models');
  return names;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw noList('its answer is not JSON');
  }
}

function noList(reason: string): UserFailure {
  const message = `The provider gave no list of models: ${reason}. Probe it, or add routes by hand.`;
  return new UserFailure('INVALID', message, 'providerId');
}
