/** A caller whose refused bodies cost much gets 429 for large ones, and others at its address do not. */
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHUNKED_REFUSAL_MS, REFUSED_WORK } from '@gateway/shared/refused-work';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { PENALTY_BODY_BYTES } from '../limits.ts';
import { WEBHOOK_PATH } from '../payments/card/webhook.routes.ts';

const NODE = { id: 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV', name: 'node-1' };
const AS_NODE = `Authorization: Bearer gnt_${'a'.repeat(42)}\r\n`;
const NOBODY = '';
const FORWARDED = 'X-Forwarded-For: 203.0.113.7\r\n';
const QUERY = JSON.stringify({ query: '{ baseAddress }' });
const SMALL = QUERY.padEnd(PENALTY_BODY_BYTES);
const LARGE = QUERY.padEnd(PENALTY_BODY_BYTES + 1);
/** Refused chunked bodies after which the most patient caller has a penalty. */
const ENOUGH = 4 * Math.ceil(REFUSED_WORK.atOnce / CHUNKED_REFUSAL_MS);

let [test, proxied]: TestApp[] = [];
let [hostile, colleague] = ['', ''];
beforeAll(async () => {
  const findNode = async (token: string) => (AS_NODE.includes(token) ? NODE : null);
  const [direct, behind] = [
    await startTestApp({ findNode }),
    await startTestApp({ env: { TRUST_PROXY: '127.0.0.1' } }),
  ];
  [test, proxied] = [direct, behind];
  const cookieOf = async (email: string) => `Cookie: ${(await direct.user(email)).cookie ?? ''}\r\n`;
  [hostile, colleague] = [await cookieOf('hostile@example.com'), await cookieOf('colleague@example.com')];
});
afterAll(async () => {
  await test?.close();
  await proxied?.close();
});

function open(app: TestApp | undefined): Socket {
  return connect(Number(new URL(app?.url ?? '').port), '127.0.0.1').on('error', () => undefined);
}

/** A caller with one connection, which it keeps. A penalty delays new connections of its network. */
class Caller {
  readonly credential: string;
  readonly app: TestApp | undefined;
  readonly #socket: Socket;

  constructor(credential: string, app = test) {
    this.credential = credential;
    this.app = app;
    this.#socket = open(app);
  }

  /** The head of the answer to a body of JSON. */
  async post(body: string, path = '/graphql'): Promise<string> {
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${this.credential}`;
    const type = 'Content-Type: application/json\r\n';
    this.#socket.write(`${head}${type}Content-Length: ${body.length}\r\n\r\n${body}`);
    return String(((await once(this.#socket, 'data')) as [Buffer])[0]);
  }

  /** Sends refused bodies until a large one gets 429, and returns that answer. */
  async provoke(): Promise<string> {
    await this.post(SMALL);
    for (let count = 0; count < ENOUGH; count += 1) {
      await refuseChunked(this);
      const answer = await this.post(LARGE);
      if (!answer.startsWith('HTTP/1.1 200')) return answer;
    }
    return 'never refused';
  }

  end(): void {
    this.#socket.destroy();
  }
}

/** Resolves when a chunked body was refused, or its connection was closed. */
async function refuseChunked({ credential, app }: Caller): Promise<void> {
  const socket = open(app);
  const head = `POST /livez HTTP/1.1\r\nHost: localhost\r\n${credential}`;
  socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n`);
  await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  socket.destroy();
}

describe('a caller with many refused bodies', () => {
  it('as an account gets 429 for a large one, and a colleague at its address does not', async () => {
    const [bad, good] = [new Caller(hostile), new Caller(colleague)];
    await good.post(SMALL);
    const refusal = await bad.provoke();
    expect(refusal).toMatch(/^HTTP\/1\.1 429 [^]*retry-after: [1-9]/);
    expect(refusal).toContain('"code":"RATE_LIMITED"');
    expect(await good.post(LARGE)).toContain('HTTP/1.1 200');
    expect(await bad.post(SMALL)).toContain('HTTP/1.1 200');
    for (const caller of [bad, good]) caller.end();
  });

  it('as a node gets 429 for a large one, and accounts at its address do not', async () => {
    const [node, good] = [new Caller(AS_NODE), new Caller(colleague)];
    await good.post(SMALL);
    expect(await node.provoke()).toMatch(/^HTTP\/1\.1 429 /);
    expect(await good.post(LARGE)).toContain('HTTP/1.1 200');
    for (const caller of [node, good]) caller.end();
  });

  it('as a stranger gets 429 for a large one and may sign in, and accounts do not', async () => {
    const [stranger, good] = [new Caller(NOBODY), new Caller(colleague)];
    await good.post(SMALL);
    expect(await stranger.provoke()).toMatch(/^HTTP\/1\.1 429 /);
    expect(await stranger.post(SMALL)).toContain('HTTP/1.1 200');
    expect(await good.post(LARGE)).toContain('HTTP/1.1 200');
    for (const caller of [stranger, good]) caller.end();
  });

  it('as a stranger does not delay events of the card processor', async () => {
    const [stranger, processor] = [new Caller(NOBODY), new Caller(NOBODY)];
    await processor.post(SMALL);
    expect(await stranger.provoke()).toMatch(/^HTTP\/1\.1 429 /);
    // Without settings of payments, the route answers 404.
    expect(await processor.post(LARGE, WEBHOOK_PATH)).toContain('Payments by card are not configured');
    for (const caller of [stranger, processor]) caller.end();
  });

  it('behind a proxy gets 429 for a large one, and others behind it do not', async () => {
    const [bad, good] = [new Caller(FORWARDED, proxied), new Caller(NOBODY, proxied)];
    await good.post(SMALL);
    expect(await bad.provoke()).toMatch(/^HTTP\/1\.1 429 /);
    expect(await good.post(LARGE)).toContain('HTTP/1.1 200');
    for (const caller of [bad, good]) caller.end();
  });
});
