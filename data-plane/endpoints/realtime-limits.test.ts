/** Limits of the frames of a realtime session, against a hostile client and a hostile upstream. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CHUNKS_PER_FRAME, FRAGMENTS_PER_MESSAGE, FRAMES_AT_ONCE } from '../limits.ts';
import { RealtimeUpstream, connectRealtime } from '../../test/realtime.ts';
import type { RealtimeClient } from '../../test/realtime.ts';
import { makeModel, makeRoute, startNode, until } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';

/** The close code of a message in too many pieces (RFC 6455, section 7.4.1: a policy is violated). */
const TOO_MANY_PIECES = 1008;
const MINUTE_MS = 60_000;
/** Time in which a node without the limit would relay all frames. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300));

let upstream: RealtimeUpstream;
let node: TestNode;
let client: RealtimeClient;
/** The TCP connection of the client. */
let connection: Socket;
/** The clock of the node in ms. It stands still unless a test sets it. */
let nowMs: number;

beforeEach(async () => {
  upstream = new RealtimeUpstream();
  await upstream.listen();
  nowMs = 0;
  node = await startNode({ now: () => nowMs });
  node.store.modelList = [makeModel({ families: ['realtime'] })];
  node.store.routes = [makeRoute(upstream.origin, { route: { families: ['realtime'] } })];
  client = connectRealtime(node);
  client.socket.once('upgrade', (response) => (connection = response.socket));
  await client.received('session.created');
});

afterEach(async () => {
  upstream.terminate();
  await node.close();
  await upstream.close();
});

describe('a side of a realtime session', () => {
  it('is read more slowly if it sends too many frames, and loses none', async () => {
    const frame = JSON.stringify({ type: 'input_audio_buffer.append', audio: 'x'.repeat(4_000) });
    const count = FRAMES_AT_ONCE + 500;
    for (let index = 0; index < count; index += 1) client.socket.send(frame);
    await until(() => upstream.fromClient.length >= FRAMES_AT_ONCE);
    await pause();
    expect(upstream.fromClient.length).toBeLessThan(count);
    nowMs += MINUTE_MS;
    await until(() => upstream.fromClient.length === count);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });

  it('is read more slowly if it sends too many pings', async () => {
    let pongs = 0;
    // One by one, because the library disconnects a client that does not wait for its pongs.
    const ping = async (): Promise<void> => {
      const answer = once(client.socket, 'pong');
      client.socket.ping();
      await answer;
      pongs += 1;
    };
    while (pongs < FRAMES_AT_ONCE) await ping();
    const before = pongs;
    const later = Array.from({ length: 100 }).reduce<Promise<void>>((last) => last.then(ping), ping());
    await pause();
    expect(pongs - before).toBeLessThan(10);
    nowMs += MINUTE_MS;
    await later;
  });

  it('is disconnected if it sends a message in too many fragments', async () => {
    for (let index = 0; index <= FRAGMENTS_PER_MESSAGE; index += 1) client.socket.send('x', { fin: false });
    expect(await client.closed).toBe(TOO_MANY_PIECES);
    expect(client.events.at(-1)?.type).toBe('error');
  });

  it('ends the session at no cost if it is an upstream and sends too many fragments', async () => {
    upstream.created();
    for (let index = 0; index <= FRAGMENTS_PER_MESSAGE; index += 1)
      upstream.socket?.send('x', { fin: false });
    expect(await client.closed).toBe(1011);
    expect([node.ledger.open, node.ledger.charges]).toEqual([0, []]);
  });
});

describe('a frame of a realtime session', () => {
  it('is refused before it is complete if it has too many network chunks', async () => {
    // A masked text frame of 2 MiB that arrives one byte at a time.
    const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0]);
    connection.write(head);
    let sent = 0;
    let isClosed = false;
    void client.closed.then(() => (isClosed = true));
    while (!isClosed && sent < CHUNKS_PER_FRAME * 20) {
      connection.write('x');
      sent += 1;
      // Node and client share this process, so that the node reads each byte by itself.
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await client.closed).toBe(TOO_MANY_PIECES);
    expect(sent).toBeGreaterThan(CHUNKS_PER_FRAME);
  });
});
