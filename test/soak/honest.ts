/** Honest traffic of a soak run: API clients, uploads, realtime sessions, console users, health checks. */
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { frameText } from '../../data-plane/realtime/side.ts';
import { runClient } from '../chaos/clients.ts';
import type { Attempt } from '../chaos/clients.ts';
import type { Random } from '../chaos/random.ts';
import { addKey } from '../house.ts';
import type { Customer } from '../house.ts';
import type { Site } from './site.ts';

/** One thing that an honest client did. */
export interface Observation {
  kind: string;
  /** Wall clock, in ms. */
  startedAt: number;
  milliseconds: number;
  /** Why it failed; undefined if it succeeded. */
  failure: string | undefined;
}

const CHAT_CLIENTS = 4;
const UPLOAD_BYTES = 300 * 1_024;
const PAUSE_MS = 250;
const PROBE_EVERY_MS = 100;
const LIMIT_MS = 30_000;

/** The `kind` of health checks of a plane. */
export const LIVEZ = { control: 'livez of the control plane', node: 'livez of the node' } as const;

interface Setting {
  site: Site;
  random: Random;
  running(): boolean;
}

/** Runs all honest clients until `running` returns false. Returns what they observe, while they run. */
export async function startHonest(
  setting: Setting,
): Promise<{ seen: () => Observation[]; ended: Promise<void> }> {
  const { site, random, running } = setting;
  const attempts: Attempt[] = [];
  const seen: Observation[] = [];
  const { keyId, key } = await addKey(site.house, site.honest);
  const clients = Array.from({ length: CHAT_CLIENTS }, (_, index) => {
    const client = { keyId, key, nodes: site.house.nodes, random: random.fork(`client ${index}`) };
    return runClient(client, attempts, running);
  });
  const repeat = (kind: string, pauseMs: number, act: () => Promise<void>): Promise<void> =>
    repeated({ kind, pauseMs, act }, seen, running);
  const ended = Promise.all([
    ...clients,
    repeat('upload', PAUSE_MS, () => upload(site)),
    repeat('realtime', PAUSE_MS, () => converse(site)),
    repeat('console query', PAUSE_MS, inTurn(site.people, readConsole)),
    repeat(
      'console socket',
      PAUSE_MS,
      inTurn(site.people, (person) => readOverSocket(site, person)),
    ),
    repeat('console page', PAUSE_MS, () => readPage(site)),
    repeat(LIVEZ.control, PROBE_EVERY_MS, () => probe(site.target.controlPort)),
    repeat(LIVEZ.node, PROBE_EVERY_MS, () => probe(site.target.nodePort)),
  ]).then(() => undefined);
  return { seen: () => [...seen, ...observedOf(attempts)], ended };
}

/** The `kind` of attempts that failed, and whose repetition with the same Idempotency-Key succeeded. */
export const RETRIED = 'retried';

/** The attempts at chat requests as observations. SDKs repeat an attempt with an Idempotency-Key as well. */
function observedOf(attempts: readonly Attempt[]): Observation[] {
  // A client that leaves early was answered, too.
  const isAnswered = (each: Attempt): boolean => each.finished || (each.left && each.content);
  const answered = new Set(attempts.flatMap((each) => (isAnswered(each) ? [each.idempotencyKey] : [])));
  return attempts.flatMap((attempt) => {
    const isRetried = !isAnswered(attempt) && attempt.idempotencyKey !== null;
    if (!isRetried || !answered.has(attempt.idempotencyKey)) return observed(attempt);
    return observed(attempt).map((each) => ({ ...each, kind: RETRIED, failure: undefined }));
  });
}

/** A chat request as an observation. One that its client left early has no duration of its own. */
function observed(attempt: Attempt): Observation[] {
  const { startedAt, endedAt, status, reason, left, finished, streamed } = attempt;
  if (endedAt === 0) return [];
  const milliseconds = endedAt - startedAt;
  if (left && milliseconds < LIMIT_MS) return [];
  const failure = finished ? undefined : `${status ?? 'no answer'} ${reason ?? (left ? 'late' : 'cut')}`;
  return [{ kind: streamed ? 'chat stream' : 'chat', startedAt, milliseconds, failure }];
}

/** Acts for another one of the customers at each call. */
function inTurn(
  customers: readonly Customer[],
  act: (customer: Customer) => Promise<void>,
): () => Promise<void> {
  let turn = 0;
  return async () => {
    const customer = customers[turn % customers.length];
    turn += 1;
    if (customer) await act(customer);
  };
}

interface Repeated {
  kind: string;
  pauseMs: number;
  act(): Promise<void>;
}

async function repeated(
  { kind, pauseMs, act }: Repeated,
  seen: Observation[],
  running: () => boolean,
): Promise<void> {
  while (running()) {
    const startedAt = Date.now();
    const from = performance.now();
    const failure = await inTime(act()).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    seen.push({ kind, startedAt, milliseconds: performance.now() - from, failure });
    await sleep(pauseMs);
  }
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('late')), LIMIT_MS);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}

async function upload({ house, honest }: Site): Promise<void> {
  const form = new FormData();
  form.append('model', 'swift');
  form.append('file', new Blob([new Uint8Array(UPLOAD_BYTES)], { type: 'audio/wav' }), 'speech.wav');
  const headers = { authorization: `Bearer ${honest.key}` };
  const url = `${house.url}/v1/audio/transcriptions`;
  const response = await fetch(url, { method: 'POST', headers, body: form });
  const text = await response.text();
  if (!response.ok || !text.includes('Said.')) throw new Error(`${response.status} ${text.slice(0, 200)}`);
}

/** One realtime session with one response. */
function converse({ house, honest }: Site): Promise<void> {
  const headers = { authorization: `Bearer ${honest.key}` };
  const socket = new WebSocket(`${house.url.replace('http', 'ws')}/v1/realtime?model=swift`, { headers });
  return new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code) => reject(new Error(`closed with ${code}`)));
    socket.on('message', (data) => {
      const { type } = JSON.parse(frameText(data)) as { type: string };
      if (type === 'session.created') {
        const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };
        socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
        socket.send('{"type":"response.create"}');
      }
      if (type === 'error') reject(new Error(frameText(data).slice(0, 200)));
      if (type === 'response.done') resolve();
    });
  }).finally(() => socket.close());
}

const PAGE = '{ viewer { id wallet { id balance } } catalog(first: 10) { nodes { id name } } }';

async function readConsole({ api }: Customer): Promise<void> {
  const { viewer } = await api.query<{ viewer: { id: string } | null }>(PAGE);
  if (!viewer) throw new Error('The session is gone.');
}

/** Opens a socket as the console does, and reads the viewer over it. */
async function readOverSocket({ house }: Site, { api }: Customer): Promise<void> {
  const cookie = api.cookie();
  class Socket extends WebSocket {
    constructor(url: string, protocol: string) {
      super(url, protocol, { headers: { cookie } });
    }
  }
  const url = `${house.controlUrl.replace('http', 'ws')}/graphql`;
  const client = createClient({ url, webSocketImpl: Socket, retryAttempts: 0 });
  try {
    const { value } = await client.iterate<{ viewer: { id: string } }>({ query: '{ viewer { id } }' }).next();
    const result = value as { data?: { viewer: { id: string } | null }; errors?: { message: string }[] };
    if (!result.data?.viewer) throw new Error(result.errors?.[0]?.message ?? 'The session is gone.');
  } catch (error) {
    if (error instanceof Error) throw error;
    const { code, reason } = error as { code?: number; reason?: string };
    throw new Error(`closed with ${code} ${reason ?? ''}`, { cause: error });
  } finally {
    void client.dispose();
  }
}

async function readPage({ house }: Site): Promise<void> {
  const response = await fetch(`${house.controlUrl}/pricing`, { headers: { accept: 'text/html' } });
  const text = await response.text();
  if (!response.ok || text.length === 0) throw new Error(`${response.status}`);
}

/** Like a load balancer, with a connection that is kept. */
const agent = new Agent({ keepAlive: true });

function probe(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/livez', agent }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`)),
      );
      response.on('error', reject);
    }).on('error', reject);
  });
}
