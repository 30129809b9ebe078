/** Transcriptions of what a customer says to a realtime session: sold by themselves, or with a response. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connectRealtime, RealtimeUpstream } from '../test/realtime.ts';
import type { RealtimeClient } from '../test/realtime.ts';
import { makeModel, makeRoute, startNode, until } from '../test/request-path.ts';
import type { TestNode } from '../test/request-path.ts';

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
  await client.saw('session.created');
  return client;
}

/** The upstream tells so many, and the client has them. */
async function heard(client: RealtimeClient, count: number): Promise<void> {
  for (let said = 0; said < count; said += 1)
    upstream.say({ type: TRANSCRIBED, transcript: 'Hello', usage: USAGE });
  await until(() => client.events.filter(({ type }) => type === TRANSCRIBED).length === count);
}

describe('a transcription', () => {
  it('is charged where the session does nothing else', async () => {
    const client = await openSession();
    upstream.say({ type: 'session.updated', session: { type: 'transcription' } });
    await heard(client, 1);
    expect(node.ledger.charges).toMatchObject([{ outcome: 'DELIVERED', tokens: { input: 4, output: 1 } }]);
    client.socket.close();
    await client.closed;
    expect(node.ledger.charges).toHaveLength(1);
  });

  it('belongs to the response that follows, unless none ever does', async () => {
    const client = await openSession();
    await heard(client, 11);
    expect(node.ledger.charges).toHaveLength(1);
    client.socket.close();
    await client.closed;
    expect(node.ledger.charges).toHaveLength(1);
  });
});

describe('transcriptions that no response follows', () => {
  it('are charged once when the customer leaves', async () => {
    const client = await openSession();
    await heard(client, 10);
    client.socket.close();
    await until(() => node.ledger.charges.length > 0);
    await client.closed;
    expect([node.ledger.charges.length, node.ledger.open]).toEqual([1, 0]);
  });

  it('are free where the upstream failed, and where a response was sold before', async () => {
    const broken = await openSession();
    await heard(broken, 1);
    upstream.terminate();
    await broken.closed;
    expect(node.ledger.charges).toEqual([]);
    const client = await openSession();
    upstream.created();
    upstream.done();
    await client.saw('response.done');
    await heard(client, 3);
    client.socket.terminate();
    await until(() => upstream.sockets.clients.size === 0);
    expect(node.ledger.charges).toHaveLength(1);
  });
});
