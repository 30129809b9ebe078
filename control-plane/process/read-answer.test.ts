/** The answers of other services are read within limits of size and number of chunks. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { WebhookConnections } from '../webhooks/post.ts';
import { readAnswer } from './read-answer.ts';

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
/** More than sender and receiver buffer. */
const ENDLESS_BYTES = 64 * MEGABYTE;

let server: Server | undefined;
const agent = new Agent();
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
});

async function serve(answer: (response: ServerResponse) => void): Promise<string> {
  server = createServer((_request, response) => answer(response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** Writes until the connection is closed, or for ENDLESS_BYTES. */
async function writeEndlessly(response: ServerResponse, sent: { bytes: number }): Promise<void> {
  const block = Buffer.alloc(64 * KILOBYTE, ' ');
  const closed = once(response, 'close');
  while (!response.destroyed && sent.bytes < ENDLESS_BYTES) {
    if (!response.write(block)) await Promise.race([once(response, 'drain'), closed]);
    sent.bytes += block.length;
  }
}

const read = async (url: string, bytesMax: number): Promise<Buffer | null> =>
  readAnswer((await request(url, { dispatcher: agent })).body, bytesMax);

describe('the answer of a service', () => {
  it('is read whole up to its size, also in many chunks', async () => {
    const text = 'Wörter '.repeat(5_000);
    const url = await serve((response) => {
      for (const letter of text) response.write(letter);
      response.end();
    });
    const { length } = Buffer.from(text);
    expect((await read(url, length))?.toString('utf8')).toBe(text);
    expect(await read(url, length - 1)).toBeNull();
  });

  it('is not read further once it is too long', async () => {
    const sent = { bytes: 0 };
    const url = await serve((response) => void writeEndlessly(response, sent));
    expect(await read(url, MEGABYTE)).toBeNull();
    expect(sent.bytes).toBeLessThan(ENDLESS_BYTES);
  });

  it('is not read further once it has too many chunks', async () => {
    let chunks = 0;
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      chunks += 1;
      return { done: false, value: Buffer.from(' ') };
    };
    expect(await readAnswer({ [Symbol.asyncIterator]: () => ({ next }) }, MEGABYTE)).toBeNull();
    expect(chunks).toBeLessThan(MEGABYTE / 2);
  });

  it('does not hold the delivery of a webhook if it never ends', async () => {
    const sent = { bytes: 0 };
    const url = await serve((response) => void writeEndlessly(response, sent));
    const connections = new WebhookConnections();
    const result = await connections.post(url, { headers: {}, body: '{}', allowPrivate: true });
    expect(result).toEqual({ status: 200, error: null });
    expect(sent.bytes).toBeLessThan(ENDLESS_BYTES);
    await connections.close();
  });
});
