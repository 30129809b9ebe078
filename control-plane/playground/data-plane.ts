/** Requests one streamed reply from the data plane, like any client of chat completions. */
import { PLAYGROUND_PASS_HEADER, writePlaygroundPass } from '@gateway/shared/playground-pass';
import type { PlaygroundPass } from '@gateway/shared/playground-pass';
import type { ReplyFailure, ReplyPart } from './running-reply.ts';
import type { HiddenKey } from './hidden-key.ts';

/** Maximum length of a line of the stream, and of the body of an error. */
const LINE_CHARACTERS_MAX = 4_000_000;
/**
 * Maximum number of tries while the node does not know the key, which may have been published a moment ago.
 */
const UNKNOWN_KEY_TRIES = 20;
const UNKNOWN_KEY_WAIT_MS = 150;

/** A request for a reply. */
export interface ReplyRequest {
  dataUrl: string;
  /** HMAC key of the pass. */
  passKey: string;
  key: HiddenKey;
  /** IP address of the user's browser; null for background work. */
  ip: string | null;
  /** The cause of the request, for the usage log. Requests of PERSONAL_INTELLIGENCE are free. */
  source: PlaygroundPass['source'];
  /** The only upstreams that may get the request; null for all. */
  providerIds: readonly string[] | null;
  /** Body of the chat-completions request as JSON. */
  body: string;
  signal: AbortSignal;
}

/** Receives the reply. */
export interface ReplyListener {
  onStart(requestId: string | null): void;
  onPart(kind: ReplyPart, text: string): void;
}

/** Resolves with undefined when the reply is complete, else with the failure. Rejects only if aborted. */
export async function requestReply(
  request: ReplyRequest,
  listener: ReplyListener,
): Promise<ReplyFailure | undefined> {
  try {
    for (let tries = 1; ; tries += 1) {
      const response = await sendRequest(request);
      if (response.status === 401 && tries < UNKNOWN_KEY_TRIES) {
        await response.body?.cancel();
        await pause(request.signal);
        continue;
      }
      listener.onStart(response.headers.get('x-request-id'));
      if (!response.ok) return failureOf(parsed((await response.text()).slice(0, LINE_CHARACTERS_MAX)));
      return await readStream(response, listener);
    }
  } catch (error) {
    if (request.signal.aborted) throw error;
    return incomplete();
  }
}

function sendRequest(request: ReplyRequest): Promise<Response> {
  const { dataUrl, passKey, key, ip, source, providerIds, body, signal } = request;
  const only = providerIds ? { providerIds } : {};
  const pass = writePlaygroundPass(passKey, { source, ip, keyId: key.id, at: Date.now(), ...only });
  return fetch(`${dataUrl}/v1/chat/completions`, {
    method: 'POST',
    redirect: 'error',
    headers: {
      authorization: `Bearer ${key.secret}`,
      'content-type': 'application/json',
      [PLAYGROUND_PASS_HEADER]: pass,
    },
    body,
    signal,
  });
}

async function readStream(response: Response, listener: ReplyListener): Promise<ReplyFailure | undefined> {
  if (!response.body) return incomplete();
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARACTERS_MAX) return incomplete();
    for (const line of lines) {
      if (!line.startsWith('data:')) continue;
      const data = line.slice('data:'.length).trim();
      if (data === '[DONE]') return undefined;
      const chunk = parsed(data);
      if (at(chunk, 'error') !== undefined) return failureOf(chunk);
      reportDelta(chunk, listener);
    }
  }
  // The stream ended without [DONE].
  return incomplete();
}

function reportDelta(chunk: unknown, listener: ReplyListener): void {
  const delta = at(at(at(chunk, 'choices'), 0), 'delta');
  const reasoning = at(delta, 'reasoning_content') ?? at(delta, 'reasoning');
  if (typeof reasoning === 'string') listener.onPart('reasoning', reasoning);
  for (const name of ['content', 'refusal']) {
    const text = at(delta, name);
    if (typeof text === 'string') listener.onPart('text', text);
  }
}

/** Failures by error code of the data plane. Other codes are UPSTREAM_FAILED. */
const CODES: Readonly<Record<string, Omit<ReplyFailure, 'message'>>> = {
  insufficient_quota: { code: 'INSUFFICIENT_BALANCE', retryable: false },
  wallet_frozen: { code: 'WALLET_FROZEN', retryable: false },
  model_not_found: { code: 'MODEL_UNAVAILABLE', retryable: false },
  invalid_request: { code: 'INVALID', retryable: false },
  body_too_large: { code: 'INVALID', retryable: false },
  key_disabled: { code: 'CONFLICT', retryable: false },
  invalid_api_key: { code: 'UPSTREAM_FAILED', retryable: true },
  rate_limit_exceeded: { code: 'LIMIT_REACHED', retryable: true },
};

function failureOf(body: unknown): ReplyFailure {
  const error = at(body, 'error');
  const code = at(error, 'code');
  const message = at(error, 'message');
  const known = typeof code === 'string' ? CODES[code] : undefined;
  // The message about an invalid key would confuse users, who do not know the hidden key.
  const isShown = typeof message === 'string' && code !== 'invalid_api_key';
  return { ...incomplete(), ...known, ...(isShown && { message }) };
}

function incomplete(): ReplyFailure {
  return {
    code: 'UPSTREAM_FAILED',
    message: 'The model stopped before finishing its answer. You were not charged. Try again.',
    retryable: true,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function at(value: unknown, name: string | number): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string | number, unknown>)[name]
    : undefined;
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, UNKNOWN_KEY_WAIT_MS);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(new Error('The reply was stopped.'));
    });
  });
}
