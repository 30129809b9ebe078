/** Sends one small request to a provider with its credential, to test address, credential and model name. */
import { request } from 'undici';
import { DEFAULT_ACCESS } from '@gateway/shared/clouds/access';
import type { Fault } from '@gateway/shared/upstream-health';
import { checkBaseUrl } from './address-guard.ts';
import { cloudRequest } from './probe-access.ts';
import { ProbeDispatchers } from './probe-dispatcher.ts';
import type { ProviderTarget } from './probe-target.ts';

const TIMEOUT_MS = 20_000;
/** Maximum size of an answer, in bytes. */
const ANSWER_BYTES_MAX = 1024 * 1024;
const SAMPLE_LENGTH_MAX = 300;
const BODY_BYTES_MAX = 64 * 1024;
/** Enough for a model that reasons before it answers. */
const TOKENS_MAX = 64;

/** The upstream to probe. */
export interface ProbeTarget extends ProviderTarget {
  upstreamModel: string;
}

/** Result of a probe. */
export interface ProbeResult {
  ok: boolean;
  status: number | null;
  latencyMs: number;
  /** Error text of the upstream or the connection, without the secret. It is shown but not stored. */
  error: string | null;
  /** Category of the failure, which is stored. */
  fault: Fault | null;
  /** Beginning of a successful answer. */
  sample: string | null;
}

/** Sends one short request. Never throws: failures are part of the result. */
export async function probe(target: ProbeTarget): Promise<ProbeResult> {
  const dispatchers = new ProbeDispatchers(target, { timeoutMs: TIMEOUT_MS, bytesMax: ANSWER_BYTES_MAX });
  const startedAt = performance.now();
  const latency = (): number => Math.round(performance.now() - startedAt);
  try {
    await checkBaseUrl(target.baseUrl, target.allowPrivate);
    const { url, headers, body } = await cloudRequest(
      { ...requestFor(target), method: 'POST', model: target.upstreamModel },
      { ...target, dispatcher: dispatchers.tokens, timeoutMs: TIMEOUT_MS },
    );
    const response = await request(url, {
      method: 'POST',
      dispatcher: dispatchers.requests,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { 'accept-encoding': 'identity', ...headers },
      body,
    });
    const text = withoutSecret(await readSome(response.body), target.secret);
    const ok = response.statusCode < 300;
    return {
      ok,
      status: response.statusCode,
      latencyMs: latency(),
      error: ok ? null : text || 'The upstream refused the request without a message. Check its own logs.',
      fault: ok ? null : faultOfStatus(response.statusCode),
      sample: ok ? text : null,
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      ok: false,
      status: null,
      latencyMs: latency(),
      error: withoutSecret(reason, target.secret),
      fault: isTimeout(error) ? 'TIMEOUT' : 'FAILED',
      sample: null,
    };
  } finally {
    await dispatchers.destroy();
  }
}

/** Category of an error status. */
export function faultOfStatus(status: number): Fault {
  if (status === 401 || status === 403) return 'REFUSED';
  if (status === 429 || status === 529) return 'BUSY';
  return status === 408 || status === 504 ? 'TIMEOUT' : 'FAILED';
}

/** Timeouts of undici have an error code, those of an abort signal an error name. */
export function isTimeout(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'TimeoutError' || ('code' in error && String(error.code).endsWith('_TIMEOUT'));
}

interface ProbeRequest {
  path: string;
  headers: Record<string, string>;
  body: object;
}

function requestFor({ protocol, upstreamModel: model, secret, access }: ProbeTarget): ProbeRequest {
  const { auth } = access ?? DEFAULT_ACCESS;
  // Secrets of the other kinds are never sent as they are.
  const key = auth === 'API_KEY' ? secret : null;
  const bearer: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
  const messages = [{ role: 'user', content: 'Say OK.' }];
  switch (protocol) {
    case 'openai-chat':
      return { path: '/chat/completions', headers: bearer, body: { model, messages } };
    case 'openai-responses':
      return { path: '/responses', headers: bearer, body: { model, input: 'Say OK.', store: false } };
    case 'anthropic-messages':
      return {
        path: '/messages',
        body: { model, messages, max_tokens: TOKENS_MAX },
        headers: { 'anthropic-version': '2023-06-01', ...(key && { 'x-api-key': key }) },
      };
    case 'bedrock-converse':
      return {
        path: `/model/${encodeURIComponent(model)}/converse`,
        headers: bearer,
        body: {
          messages: [{ role: 'user', content: [{ text: 'Say OK.' }] }],
          inferenceConfig: { maxTokens: TOKENS_MAX },
        },
      };
    case 'google-generate':
      return {
        path: `/models/${encodeURIComponent(model)}:generateContent`,
        headers: key ? { 'x-goog-api-key': key } : {},
        body: { contents: [{ role: 'user', parts: [{ text: 'Say OK.' }] }] },
      };
  }
}

async function readSome(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > BODY_BYTES_MAX) break;
  }
  return Buffer.concat(chunks).toString('utf8').slice(0, SAMPLE_LENGTH_MAX);
}

/** Removes the secret, because some upstreams quote it in their error. */
function withoutSecret(text: string, secret: string | null): string {
  return secret ? text.replaceAll(secret, '…') : text;
}
