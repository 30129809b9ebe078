/** Compressed request bodies: read like plain ones, within the limits of what they expand to. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { GatewayError } from '@gateway/shared/failures';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRoute, startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const ANSWER = {
  ...{ id: 'c1', model: 'vendor-model', object: 'chat.completion', created: 1 },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
};
const MEGABYTE = 1024 * 1024;

/** A request with this text. */
function question(content: string): string {
  return JSON.stringify({ model: 'swift', messages: [{ role: 'user', content }] });
}

/** Text that hardly compresses, of about this many bytes. */
function noise(bytes: number): string {
  let seed = 1;
  return Array.from({ length: bytes / 8 }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed.toString(36).padStart(8, 'x');
  }).join('');
}

let upstream: FakeUpstream;
let node: TestNode;

beforeEach(async () => {
  upstream = await startUpstream(() => ({ chunks: [JSON.stringify(ANSWER)] }));
  node = await startNode();
  node.store.routes.push(makeRoute(upstream.origin));
});
afterEach(async () => {
  await node.close();
  await upstream.close();
});

function send(encoding: string, body: Buffer) {
  return node.call({ body, headers: { 'content-encoding': encoding } });
}

describe('a compressed body', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ] as const)('is read in the encoding %s', async (encoding, compress) => {
    const text = question(noise(200_000));
    expect((await send(encoding, compress(text))).status).toBe(200);
    expect(upstream.seen[0]?.body).toBe(text.replace('swift', 'vendor-model'));
    expect(upstream.seen[0]?.headers).not.toHaveProperty('content-encoding');
    expect(node.ledger.charges).toHaveLength(1);
  });

  it('is refused if its encoding is not the one in its header', async () => {
    for (const body of [Buffer.from(question('Hi')), gzipSync(question('Hi')).subarray(0, 30)]) {
      const { status, text } = await send('gzip', body);
      expect([status, text]).toEqual([400, expect.stringContaining('not valid gzip')]);
    }
    expect(upstream.seen).toEqual([]);
  });

  it.each(['zstd', 'gzip, gzip', 'compress'])('is refused in the encoding %s', async (encoding) => {
    const { status, text } = await send(encoding, gzipSync(question('Hi')));
    expect([status, text]).toEqual([415, expect.stringContaining('gzip, deflate, br')]);
  });

  it('is refused as a form', async () => {
    const headers = { 'content-encoding': 'gzip', 'content-type': 'multipart/form-data; boundary=x' };
    expect((await node.call({ path: '/v1/audio/transcriptions', body: gzipSync('x'), headers })).status).toBe(
      415,
    );
  });
});

describe('a body that expands', () => {
  it('is refused if the result is above the limit of its endpoint', async () => {
    const body = gzipSync(JSON.stringify({ model: 'swift', input: noise(5 * MEGABYTE) }));
    const headers = { 'content-encoding': 'gzip' };
    const { status, text } = await node.call({ path: '/v1/embeddings', body, headers });
    expect(body.length).toBeLessThan(4 * MEGABYTE);
    expect([status, text]).toEqual([413, expect.stringContaining('4 MiB')]);
  });

  it.each(['gzip', 'br'] as const)(
    'is refused in the encoding %s if it grows more than 200 times',
    async (encoding) => {
      const compress = encoding === 'gzip' ? gzipSync : brotliCompressSync;
      const { status, text } = await send(encoding, compress(question('x'.repeat(30 * MEGABYTE))));
      expect([status, text]).toEqual([400, expect.stringContaining('200 times')]);
    },
  );

  it('is not expanded for a wallet that cannot pay', async () => {
    const body = gzipSync(question(' '.repeat(100) + noise(100_000)));
    node.ledger.refuse = new GatewayError('insufficient_funds', 'Add credit.');
    expect((await send('gzip', body)).status).toBe(402);
  });

  it('counts towards the memory limit of its wallet', async () => {
    const small = await startNode({ bodyMemoryBytes: MEGABYTE });
    try {
      small.store.routes.push(makeRoute(upstream.origin));
      const text = question(`${noise(40_000)}${'ab'.repeat(750_000)}`);
      const headers = { 'content-encoding': 'gzip' };
      const { status } = await small.call({ body: gzipSync(text), headers });
      expect(gzipSync(text).length).toBeLessThan(64 * 1024);
      expect(status).toBe(429);
    } finally {
      await small.close();
    }
  });
});
