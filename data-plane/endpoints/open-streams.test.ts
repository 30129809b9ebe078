/** Open streams forget their requests: garbage is collected until the parts of a request are gone. */
import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeModel, makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { DIALECTS } from '../dialects/index.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const MODEL = 'vendor-model';
const FAMILIES = ['messages', 'chat_completions', 'responses'] as const;
const BODY = { model: MODEL, max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Say hi.' }] };
const USAGE = { input_tokens: 3, output_tokens: 1 };
const EVENTS = [
  { type: 'message_start', message: { id: 'm1', type: 'message', model: MODEL, content: [], usage: USAGE } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
];

const LONG_MS = 600_000;
/** The streams stay open, however slow the machine is. */
const TIMEOUTS = {
  connectMs: LONG_MS,
  headersMs: LONG_MS,
  firstContentMs: LONG_MS,
  idleMs: LONG_MS,
  totalMs: LONG_MS,
};

let node: TestNode;
let upstream: FakeUpstream;
/** The memory of the bodies that arrived at the node, and the parsed requests, which their exchanges hold. */
let bodies: WeakRef<ArrayBufferLike>[];
let requests: WeakRef<object>[];
/** Bytes of the memory in which each body stands that was sent upstream. */
let sent: number[];
let leave: PromiseWithResolvers<void>;
let ended: Promise<unknown>;

beforeAll(async () => {
  upstream = await startUpstream(() => ({
    headers: { 'content-type': 'text/event-stream' },
    chunks: EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    hang: 'after-chunks',
  }));
  const dialects = Object.entries(DIALECTS).map(([name, dialect]) => [name, watched(dialect)]);
  node = await startNode({ dialects: Object.fromEntries(dialects) });
  node.store.modelList = [makeModel({ name: MODEL, families: [...FAMILIES] })];
  node.store.routes = [
    makeRoute(upstream.origin, {
      route: { families: [...FAMILIES] },
      provider: { protocols: ['anthropic-messages'], timeouts: TIMEOUTS },
    }),
  ];
  channel('http.server.request.start').subscribe(watchBody);
  channel('undici:request:create').subscribe(watchSent);
});
beforeEach(() => {
  bodies = [];
  requests = [];
  sent = [];
  leave = Promise.withResolvers();
});
afterEach(async () => {
  leave.resolve();
  await ended;
});
afterAll(async () => {
  channel('http.server.request.start').unsubscribe(watchBody);
  channel('undici:request:create').unsubscribe(watchSent);
  await Promise.all([node.close(), upstream.close()]);
});

function watched(dialect: Dialect): Dialect {
  const decodeRequest: Dialect['inbound']['decodeRequest'] = (wire, path) => {
    const request = dialect.inbound.decodeRequest(wire, path);
    requests.push(new WeakRef(request));
    return request;
  };
  return { ...dialect, inbound: { ...dialect.inbound, decodeRequest } };
}

function watchBody(message: unknown): void {
  const { request } = message as { request: IncomingMessage };
  if (request.socket.localPort !== node.port) return;
  const { push } = request;
  request.push = (chunk: Buffer | null): boolean => {
    if (chunk) bodies.push(new WeakRef(chunk.buffer));
    return push.call(request, chunk);
  };
}

function watchSent(message: unknown): void {
  const { request } = message as { request: { origin: string; body: unknown } };
  if (request.origin !== upstream.origin) return;
  sent.push(Buffer.isBuffer(request.body) ? request.body.buffer.byteLength : Number.NaN);
}

/** Opens a stream, and resolves when the client has its text. */
async function openStream(path: string, body: object): Promise<void> {
  let received = '';
  const leaveWhen = (text: string): boolean => {
    received = text;
    return false;
  };
  ended = node.call({ path, body, leaveWhen, leaveAfter: leave.promise });
  await expect.poll(() => received).toContain('Hello');
}

/** Collects garbage; the watched objects that are still there. */
function kept(): number {
  collect();
  return [...bodies, ...requests].filter((ref) => ref.deref() !== undefined).length;
}

const PATHS = [
  ['mirrored', '/v1/messages', BODY],
  ['translated to chat', '/v1/chat/completions', BODY],
  ['translated to responses', '/v1/responses', { model: MODEL, stream: true, input: 'Say hi.' }],
] as const;

describe('an open stream', () => {
  it.each(PATHS)(
    'keeps neither the bytes that arrived nor the decoded request, if it is %s',
    async (_how, path, body) => {
      await openStream(path, body);
      expect([bodies.length, requests.length]).toEqual([1, 1]);
      await expect.poll(kept).toBe(0);
      expect(upstream.openSockets()).toBe(1);
    },
  );

  it.each(PATHS)(
    'keeps no slab of other buffers with the body that was sent, if it is %s',
    async (_how, path, body) => {
      await openStream(path, body);
      expect(sent).toHaveLength(1);
      expect(sent[0]).toBeLessThanOrEqual(4_096);
    },
  );
});
