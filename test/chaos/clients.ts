/** The customers of a chaos run: they ask without a pause and remember exactly what they saw. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { FORMATS } from './formats.ts';
import type { ChatFormat } from './formats.ts';
import type { Random } from './random.ts';

/** What a client saw of one request. */
export interface Attempt {
  keyId: string;
  node: string;
  trace: string;
  /** The Idempotency-Key, where one was sent: of all its attempts at most one may be charged. */
  once: string | null;
  streamed: boolean;
  /** Wall clock, in ms. */
  startedAt: number;
  endedAt: number;
  requestId: string | null;
  status: number | null;
  /** What a refusal said. */
  reason: string | null;
  /** Some content was there. */
  content: boolean;
  /** The end was there: `[DONE]`, or the whole JSON answer. */
  finished: boolean;
  /** The client itself went away. */
  left: boolean;
}

export interface ClientSetting {
  key: string;
  keyId: string;
  nodes: readonly { name: string; url: string }[];
  random: Random;
}

/** One of so many streams is left by its client after the first content. */
const LEAVES_EVERY = 9;
/** One of so many requests has an Idempotency-Key, and is repeated under it until it is answered. */
const ONCE_EVERY = 4;
const REPEATED_MOST = 12;
const PATIENCE_MS = 30_000;
/** Characters of a refusal that are kept. */
const REASON_LENGTH = 300;
const PAUSE_AFTER_FAILURE_MS = 60;

/** Asks until `running` says no. Every attempt ends up in `seen`, whatever happened to it. */
export async function runClient(
  setting: ClientSetting,
  seen: Attempt[],
  running: () => boolean,
): Promise<void> {
  const { random } = setting;
  let once: string | null = null;
  let format: ChatFormat = FORMATS[0];
  let repeated = 0;
  while (running()) {
    const node = setting.nodes[random.between(0, setting.nodes.length - 1)];
    if (!node) return;
    // Repeated under a key, the question must be the same.
    if (once === null) format = random.pick(FORMATS);
    if (once === null && random.between(1, ONCE_EVERY) === 1)
      [once, repeated] = [randomBytes(8).toString('hex'), 0];
    const attempt: Attempt = {
      once,
      keyId: setting.keyId,
      node: node.name,
      trace: randomBytes(16).toString('hex'),
      streamed: once === null ? random.next() < 0.7 : true,
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
    const over = attempt.finished || attempt.left || repeated > REPEATED_MOST;
    if (over || attempt.status === 422) [once, repeated] = [null, 0];
    if (!attempt.finished) await sleep(PAUSE_AFTER_FAILURE_MS);
  }
}

interface Question {
  format: ChatFormat;
  url: string;
  key: string;
  leaves: boolean;
}

async function ask(attempt: Attempt, { format, url, key, leaves }: Question): Promise<void> {
  const away = new AbortController();
  const leave = (): void => {
    attempt.left = true;
    away.abort();
  };
  const impatience = setTimeout(leave, PATIENCE_MS);
  try {
    const response = await fetch(`${url}${format.path(attempt.streamed)}`, {
      method: 'POST',
      signal: away.signal,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(attempt.once !== null && { 'idempotency-key': attempt.once }),
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
    clearTimeout(impatience);
  }
}
