/** Asks the data plane for one streamed reply, like any client of chat completions. */
import { PLAYGROUND_PASS_HEADER, writePlaygroundPass } from '@gateway/shared/playground-pass';
import type { ReplyFailure, ReplyPart } from './live-reply.ts';
import type { HiddenKey } from './hidden-key.ts';

/** A line of the stream, or the body of a failure, is at most this long. */
const LINE_CHARACTERS_MAX = 4_000_000;
/** A key that was announced a moment ago may not have reached every node. */
const UNKNOWN_KEY_TRIES = 20;
const UNKNOWN_KEY_WAIT_MS = 150;

export interface ReplyCall {
  dataUrl: string;
  /** The HMAC key of the pass. */
  passKey: string;
  key: HiddenKey;
  /** Address of the person's browser. */
  ip: string | null;
  /** The request as JSON. */
  body: string;
  signal: AbortSignal;
}

export interface ReplyListener {
  /** The answer began: its request id. */
  began(requestId: string | null): void;
  part(kind: ReplyPart, text: string): void;
}

/** Resolves with undefined at the stream's proper end, with the failure otherwise. Rejects on abort alone. */
export async function askDataPlane(
  call: ReplyCall,
  listener: ReplyListener,
): Promise<ReplyFailure | undefined> {
  try {
    for (let attempt = 1; ; attempt += 1) {
      const response = await post(call);
      if (response.status === 401 && attempt < UNKNOWN_KEY_TRIES) {
        await response.body?.cancel();
        await pause(call.signal);
        continue;
      }
      listener.began(response.headers.get('x-request-id'));
      if (!response.ok) return failureOf(parsed((await response.text()).slice(0, LINE_CHARACTERS_MAX)));
      return await readStream(response, listener);
    }
  } catch (error) {
    if (call.signal.aborted) throw error;
    return broken();
  }
}

function post({ dataUrl, passKey, key, ip, body, signal }: ReplyCall): Promise<Response> {
  const pass = writePlaygroundPass(passKey, { source: 'PLAYGROUND', ip, keyId: key.id, at: Date.now() });
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
  if (!response.body) return broken();
  let rest = '';
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split(/\r?\n/);
    rest = lines.pop() ?? '';
    if (rest.length > LINE_CHARACTERS_MAX) return broken();
    for (const line of lines) {
      if (!line.startsWith('data:')) continue;
      const data = line.slice('data:'.length).trim();
      if (data === '[DONE]') return undefined;
      const chunk = parsed(data);
      if (at(chunk, 'error') !== undefined) return failureOf(chunk);
      tell(chunk, listener);
    }
  }
  // Without its end a reply is cut, however much of it came.
  return broken();
}

function tell(chunk: unknown, listener: ReplyListener): void {
  const delta = at(at(at(chunk, 'choices'), 0), 'delta');
  const reasoning = at(delta, 'reasoning_content') ?? at(delta, 'reasoning');
  if (typeof reasoning === 'string') listener.part('reasoning', reasoning);
  for (const name of ['content', 'refusal']) {
    const text = at(delta, name);
    if (typeof text === 'string') listener.part('text', text);
  }
}

/** Codes of the data plane that mean something of their own here. */
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
  const words = typeof message === 'string' && code !== 'invalid_api_key' ? message : broken().message;
  return { ...broken(), ...known, message: words };
}

function broken(): ReplyFailure {
  return {
    code: 'UPSTREAM_FAILED',
    message: 'The reply broke off. It was not charged; try again.',
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
