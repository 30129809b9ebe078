/** The clients of a chaos run: they send requests without a pause and record what they saw. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FORMATS } from './formats.ts';
import type { ChatFormat } from './formats.ts';
import type { Random } from './random.ts';

/** One request as its client saw it. */
export interface Attempt {
  keyId: string;
  node: string;
  /** Trace id sent with the request. */
  trace: string;
  /** The Idempotency-Key, if one was sent: at most one attempt with a key may be charged. */
  idempotencyKey: string | null;
  streamed: boolean;
  /** Wall clock, in ms. */
  startedAt: number;
  endedAt: number;
  requestId: string | null;
  status: number | null;
  /** Start of the body of a refusal. */
  reason: string | null;
  /** Whether some content arrived. */
  content: boolean;
  /** Whether the end arrived: `[DONE]`, or the whole JSON answer. */
  finished: boolean;
  /** Whether the client itself disconnected. */
  left: boolean;
}

export interface ClientSetting {
  key: string;
  keyId: string;
  nodes: readonly { name: string; url: string }[];
  random: Random;
}

/** The client disconnects from one in this many streams after the first content. */
const LEAVES_EVERY = 9;
/** One in this many requests has an Idempotency-Key, and is repeated with the key until it is answered. */
const KEYED_EVERY = 4;
const REPEATS_MAX = 12;
/** The client disconnects from a request after this time, in ms. */
const TIMEOUT_MS = 30_000;
/** Maximum characters of a refusal that are recorded. */
const REASON_LENGTH = 300;
const PAUSE_AFTER_FAILURE_MS = 60;

/** Sends requests until `running` returns false. Records every attempt in `seen`, also failed ones. */
export async function runClient(
  setting: ClientSetting,
  seen: Attempt[],
  running: () => boolean,
): Promise<void> {
  const { random } = setting;
  let idempotencyKey: string | null = null;
  let format: ChatFormat = FORMATS[0];
  let repeated = 0;
  while (running()) {
    const node = setting.nodes[random.between(0, setting.nodes.length - 1)];
    if (!node) return;
    // Attempts with one key have to send the same body.
    if (idempotencyKey === null) format = random.pick(FORMATS);
    if (idempotencyKey === null && random.between(1, KEYED_EVERY) === 1)
      [idempotencyKey, repeated] = [randomBytes(8).toString('hex'), 0];
    const attempt: Attempt = {
      idempotencyKey,
      keyId: setting.keyId,
      node: node.name,
      trace: randomBytes(16).toString('hex'),
      streamed: idempotencyKey === null ? random.next() < 0.7 : true,
      startedAt: Date.now(),
      endedAt: 0,
      requestId: null,
      status: null,
      reason: null,
      content: false,
      finished: false,
      left: false,
    };
    seen.push(attempt);
    const leaves = attempt.streamed && random.between(1, LEAVES_EVERY) === 1;
    await ask(attempt, { format, url: node.url, key: setting.key, leaves }).catch(() => undefined);
    attempt.endedAt = Date.now();
    repeated += 1;
    const over = attempt.finished || attempt.left || repeated > REPEATS_MAX;
    if (over || attempt.status === 422) [idempotencyKey, repeated] = [null, 0];
    if (!attempt.finished) await sleep(PAUSE_AFTER_FAILURE_MS);
  }
}

interface ClientRequest {
  format: ChatFormat;
  url: string;
  key: string;
  leaves: boolean;
}

/** Sends the request and records the answer in `attempt`. Rejects if the connection fails. */
async function ask(attempt: Attempt, { format, url, key, leaves }: ClientRequest): Promise<void> {
  const abort = new AbortController();
  const leave = (): void => {
    attempt.left = true;
    abort.abort();
  };
  const timeout = setTimeout(leave, TIMEOUT_MS);
  try {
    const response = await fetch(`${url}${format.path(attempt.streamed)}`, {
      method: 'POST',
      signal: abort.signal,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(attempt.idempotencyKey !== null && { 'idempotency-key': attempt.idempotencyKey }),
        traceparent: `00-${attempt.trace}-0123456789abcdef-01`,
      },
      body: JSON.stringify(format.body(attempt.streamed)),
    });
    attempt.requestId = response.headers.get('x-request-id');
    attempt.status = response.status;
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      attempt.content = response.ok && (!attempt.streamed || text.includes(format.content));
      if (attempt.streamed && text.includes(format.end)) attempt.finished = true;
      else if (leaves && attempt.content) return leave();
    }
    if (!response.ok) attempt.reason = text.slice(0, REASON_LENGTH);
    if (!attempt.streamed && response.ok) attempt.finished = JSON.parse(text) !== undefined;
  } finally {
    clearTimeout(timeout);
  }
}
