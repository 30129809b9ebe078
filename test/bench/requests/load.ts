/** The clients of the benchmark: closed loops, a rate set by the clock, and streams that stay open. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { DIALECTS } from './formats.ts';
import type { Format, Question } from './formats.ts';
import type { Load } from './workloads.ts';

export interface Target {
  name: string;
  url: string;
  /** Bearer keys that are used in turn, because a wallet may have 64 requests in progress. */
  keys: readonly string[];
}

/** Times of all requests, in ms. With a rate they count from the moment at which a request was due. */
export interface Times {
  whole: number[];
  firstByte: number[];
}

/** One request that is sent repeatedly. */
export interface Repeated {
  client: Format;
  question: Question;
}

/** A load of so many requests that their times are not kept. */
export interface LongLoad {
  /** Number of answers. Failed requests are sent again. */
  requests: number;
  atOnce: number;
  /** Upper bound of the rate; by default there is none. */
  perSecond?: number;
  /** Called after each answer with the number of answers. */
  onAnswer: (answered: number) => unknown;
}

/** Connections of a load with a rate. */
const CONNECTIONS = 128;
/** Streams that are opened at once. A node keeps 512 connections of one address that have sent no key yet. */
const OPENED_AT_ONCE = 500;
/** Failed requests after which a long load gives up. */
const FAILURES_MAX = 100;
/** Time that a bounded load may catch up after a pause, in ms. */
const CATCH_UP_MS = 100;

/** Sends the whole load. Throws on any answer that is not complete. */
export async function runLoad(target: Target, what: Repeated, load: Load): Promise<Times> {
  const connections = load.kind === 'closed' ? load.atOnce : CONNECTIONS;
  const pool = new Pool(target.url, { connections, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const send = sender(pool, target, what);
  const times: Times = { whole: [], firstByte: [] };
  try {
    await (load.kind === 'closed' ? inLoops(send, load, times) : atRate(send, load, times));
  } finally {
    await pool.close();
  }
  return times;
}

/** Sends a long load in closed loops. Returns the messages of failed requests; throws if they are many. */
export async function runLongLoad(target: Target, what: Repeated, load: LongLoad): Promise<string[]> {
  const { requests, atOnce: connections, perSecond, onAnswer } = load;
  const pool = new Pool(target.url, { connections, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const send = sender(pool, target, what);
  const nextTurn = turnsAt(perSecond);
  const failures: string[] = [];
  let begun = 0;
  let answered = 0;
  const fail = (error: unknown): boolean => {
    failures.push(String(error));
    if (failures.length > FAILURES_MAX) throw new Error(`Too many requests failed: ${failures[0]}`);
    begun -= 1;
    return false;
  };
  const client = async (): Promise<void> => {
    while (begun < requests) {
      begun += 1;
      await nextTurn();
      const isAnswered = await send(performance.now()).then(() => true, fail);
      if (isAnswered) onAnswer((answered += 1));
    }
  };
  try {
    await Promise.all(Array.from({ length: connections }, client));
  } finally {
    await pool.close();
  }
  return failures;
}

/** Resolves at most `perSecond` times a second. */
function turnsAt(perSecond: number | undefined): () => Promise<void> {
  if (perSecond === undefined) return () => Promise.resolve();
  let turn = performance.now();
  return async () => {
    const now = performance.now();
    turn = Math.max(turn + 1_000 / perSecond, now - CATCH_UP_MS);
    if (turn > now) await sleep(turn - now);
  };
}

type Send = (dueAt: number, times?: Times) => Promise<void>;

async function inLoops(send: Send, load: Load & { kind: 'closed' }, times: Times): Promise<void> {
  let started = 0;
  const client = async (): Promise<void> => {
    while (started < load.requests) {
      started += 1;
      await send(performance.now(), times);
    }
  };
  await Promise.all(Array.from({ length: load.atOnce }, client));
}

async function atRate(send: Send, load: Load & { kind: 'rate' }, times: Times): Promise<void> {
  const from = performance.now();
  const requests = load.perSecond * load.seconds;
  const open: Promise<void>[] = [];
  let sent = 0;
  while (sent < requests) {
    const due = Math.min(requests, Math.floor(((performance.now() - from) / 1_000) * load.perSecond) + 1);
    for (; sent < due; sent += 1) open.push(send(from + (sent * 1_000) / load.perSecond, times));
    await sleep(1);
  }
  await Promise.all(open);
}

function sender(pool: Pool, target: Target, { client, question }: Repeated): Send {
  const dialect = DIALECTS[client];
  const body = JSON.stringify(dialect.body(question));
  const path = dialect.path(question);
  const end = question.stream ? dialect.streamEnd : dialect.wholeEnd;
  let number = 0;
  return async (dueAt, times) => {
    const key = target.keys[(number += 1) % target.keys.length];
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const answer = await pool.request({ path, method: 'POST', body, headers });
    let text = '';
    let firstAt = 0;
    for await (const part of answer.body) {
      if (firstAt === 0) firstAt = performance.now();
      text += String(part);
    }
    if (answer.statusCode !== 200 || !text.includes(end))
      throw new Error(`${target.name} answered ${answer.statusCode}: ${text.slice(0, 300)}`);
    times?.firstByte.push(firstAt - dueAt);
    times?.whole.push(performance.now() - dueAt);
  };
}

/** Opens streams that have begun and do not end. Resolves when all have begun; the result closes them. */
export async function openStreams(
  target: Target,
  what: Repeated,
  count: number,
): Promise<() => Promise<void>> {
  const pool = new Pool(target.url, { connections: count, pipelining: 1, bodyTimeout: 0, headersTimeout: 0 });
  const { path, body } = {
    path: DIALECTS[what.client].path(what.question),
    body: DIALECTS[what.client].body(what.question),
  };
  const open = async (index: number): Promise<void> => {
    const key = target.keys[index % target.keys.length];
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
    const answer = await pool.request({ path, method: 'POST', body: JSON.stringify(body), headers });
    if (answer.statusCode !== 200) throw new Error(`${target.name} answered ${answer.statusCode}`);
    answer.body.on('error', () => undefined);
    await new Promise((resolve) => {
      answer.body.once('data', resolve);
    });
  };
  for (let from = 0; from < count; from += OPENED_AT_ONCE) {
    const group = Array.from({ length: Math.min(OPENED_AT_ONCE, count - from) }, (_, at) => open(from + at));
    await Promise.all(group);
  }
  return () => pool.destroy();
}
