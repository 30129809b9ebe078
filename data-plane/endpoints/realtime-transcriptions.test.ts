/** Transcriptions of the customer's speech in realtime sessions: charged by themselves or with a response. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectRealtime, RealtimeUpstream } from '../../test/realtime.ts';
import type { RealtimeClient } from '../../test/realtime.ts';
import { makeModel, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';

const TRANSCRIBED = 'conversation.item.input_audio_transcription.completed';
const USAGE = { type: 'tokens', input_tokens: 4, output_tokens: 1 };

let upstream: RealtimeUpstream;
let node: TestNode;
beforeEach(async () => {
  upstream = new RealtimeUpstream();
  await upstream.listen();
  node = await startNode();
  node.store.modelList = [makeModel({ families: ['realtime'] })];
  node.store.routes = [makeRoute(upstream.origin, { route: { families: ['realtime'] } })];
});
afterEach(async () => {
  upstream.terminate();
  await node.close();
  await upstream.close();
});

async function openSession(): Promise<RealtimeClient> {
  const client = connectRealtime(node);
  await client.received('session.created');
  return client;
}

/** The upstream sends `count` transcriptions, and the client receives them. */
async function transcribe(client: RealtimeClient, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent += 1)
    upstream.send({ type: TRANSCRIBED, transcript: 'Hello', usage: USAGE });
  await until(() => client.events.filter(({ type }) => type === TRANSCRIBED).length === count);
}

describe('a transcription', () => {
  it('is charged in a session that only transcribes', async () => {
    const client = await openSession();
    upstream.send({ type: 'session.updated', session: { type: 'transcription' } });
    await transcribe(client, 1);
    expect(node.ledger.charges).toMatchObject([{ outcome: 'DELIVERED', tokens: { input: 4, output: 1 } }]);
    client.socket.close();
    await client.closed;
    expect(node.ledger.charges).toHaveLength(1);
  });

  it('is included in the next response, but charged from the eleventh without a response on', async () => {
    const client = await openSession();
    await transcribe(client, 11);
    expect(node.ledger.charges).toHaveLength(1);
    client.socket.close();
    await client.closed;
    expect(node.ledger.charges).toHaveLength(1);
  });
});

describe('transcriptions without a response', () => {
  it('are charged once if the customer leaves', async () => {
    const client = await openSession();
    await transcribe(client, 10);
    client.socket.close();
    await until(() => node.ledger.charges.length > 0);
    await client.closed;
    expect([node.ledger.charges.length, node.ledger.open]).toEqual([1, 0]);
  });

  it('are free if the upstream fails, or if an earlier response was charged', async () => {
    const broken = await openSession();
    await transcribe(broken, 1);
    upstream.terminate();
    await broken.closed;
    expect(node.ledger.charges).toEqual([]);
    const client = await openSession();
    upstream.created();
    upstream.done();
    await client.received('response.done');
    await transcribe(client, 3);
    client.socket.terminate();
    await until(() => upstream.sockets.clients.size === 0);
    expect(node.ledger.charges).toHaveLength(1);
  });
});
