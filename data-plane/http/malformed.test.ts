/** Answers to malformed HTTP, and to requests that Node would refuse without a body. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startNode } from '../../test/request-path.ts';
import type { TestNode } from '../../test/request-path.ts';

let node: TestNode;
beforeAll(async () => {
  node = await startNode();
});
afterAll(async () => {
  await node.close();
});

/** Sends these bytes; the answer up to the end of the connection. */
async function answerTo(bytes: string): Promise<{ head: string; error: { code: string; message: string } }> {
  const socket = connect(node.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  socket.write(bytes);
  await once(socket, 'close');
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { head, error: JSON.parse(body).error };
}

const POST = 'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

describe('malformed HTTP', () => {
  it.each([
    ['binary data', '\x00\x01\r\n\r\n', '400', 'invalid_request'],
    [
      'a length and chunked encoding',
      `${POST}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n`,
      '400',
      'invalid_request',
    ],
    ['two lengths', `${POST}Content-Length: 3\r\nContent-Length: 4\r\n\r\n{}`, '400', 'invalid_request'],
    ['headers above 16 KiB', `${POST}X: ${'a'.repeat(20_000)}\r\n\r\n`, '431', 'invalid_request'],
  ])('is refused in the chat format with a request id: %s', async (_name, bytes, status, code) => {
    const { head, error } = await answerTo(bytes);
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/\r\nx-request-id: req_[0-9a-f]{32}\r\n/);
    expect(error).toMatchObject({ code, message: expect.any(String) });
  });
});

describe('a request that Node refuses without a body', () => {
  const CLOSE = 'Connection: close\r\n\r\n';

  it.each([
    ['no Host', `GET /v1/models HTTP/1.1\r\n${CLOSE}`, '400', 'invalid_request'],
    [
      'no Host',
      `POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 0\r\n${CLOSE}`,
      '400',
      'invalid_request',
    ],
    [
      'no Host, as an upgrade',
      `GET /v1/realtime HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      '400',
      'invalid_request',
    ],
    [
      'two Hosts',
      `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nhOST: b\r\nContent-Length: 0\r\n${CLOSE}`,
      '400',
      'invalid_request',
    ],
    [
      'two Hosts, as an upgrade',
      `GET /v1/realtime HTTP/1.1\r\nHost: a\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      '400',
      'invalid_request',
    ],
    [
      'an unknown expectation',
      `${POST}Expect: miracles\r\nContent-Length: 0\r\n${CLOSE}`,
      '417',
      'expectation_failed',
    ],
  ])('is refused in the format of its path: %s', async (_name, bytes, status, code) => {
    const { head, error } = await answerTo(bytes);
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(head).toMatch(/\r\nx-request-id: req_[0-9a-f]{32}\r\n/);
    expect(error).toMatchObject({ type: 'invalid_request_error', code, message: expect.any(String) });
  });

  it('is refused in the messages format on the messages path', async () => {
    const { head, error } = await answerTo(`POST /v1/messages HTTP/1.1\r\nContent-Length: 0\r\n${CLOSE}`);
    expect(head).toMatch(/^HTTP\/1.1 400 /);
    expect(error).toEqual({ type: 'invalid_request_error', message: expect.stringContaining('Host') });
  });

  it('needs no Host header in HTTP/1.0', async () => {
    const { head, error } = await answerTo(`GET /v1/models HTTP/1.0\r\n\r\n`);
    expect(head).toMatch(/^HTTP\/1.1 401 /);
    expect(error.code).toBe('invalid_api_key');
  });

  it('is answered with 408 if its headers do not end', async () => {
    const { head, error } = await answerTo('POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nX: ');
    expect(head).toMatch(/^HTTP\/1.1 408 /);
    expect(error.code).toBe('request_timeout');
  });

  it('gets 100 Continue if it expects that', async () => {
    const bytes = `${POST}Expect: 100-continue\r\nContent-Length: 2\r\n${CLOSE}{}`;
    const socket = connect(node.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    socket.write(bytes);
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 401 /);
  });
});
