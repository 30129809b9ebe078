/** Tests the ways to an upstream over real sockets: through an HTTP proxy, and with a client certificate. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { CLIENT_CERTIFICATE, bindingOf } from '@gateway/shared/clouds/access';
import { TokenServer, accessOf } from '../../test/clouds.ts';
import { makeRoute, startNode } from '../../test/request-path.ts';
import type { RouteChanges, TestNode } from '../../test/request-path.ts';
import { selfSigned, startTlsFront } from '../../test/tls.ts';
import type { TlsFront } from '../../test/tls.ts';
import { startUpstream } from '../../test/upstream.ts';
import type { FakeUpstream } from '../../test/upstream.ts';

const QUESTION = { body: { model: 'swift', messages: [{ role: 'user', content: 'Hello' }] } };
const MESSAGE = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
const ANSWER = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [MESSAGE],
});

/** A proxy that notes the targets of CONNECT and of forwarded requests. */
interface Proxy {
  url: string;
  targets: string[];
  /** Answers CONNECT with this status instead of a tunnel. */
  refusal: number | undefined;
  stop(): Promise<void>;
}

async function startProxy(): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    proxy.targets.push(`${request.method} ${request.url}`);
    response.end(ANSWER);
  });
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', ({ url = '' }, socket, head) => {
    proxy.targets.push(`CONNECT ${url}`);
    if (proxy.refusal !== undefined) return socket.end(`HTTP/1.1 ${proxy.refusal} Refused\r\n\r\n`);
    const { hostname, port } = new URL(`http://${url}`);
    const target = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.write(head);
      target.pipe(socket).pipe(target);
    });
    sockets.add(target);
    for (const end of [socket, target]) end.on('error', () => end.destroy());
    return undefined;
  });
  const url = `http://127.0.0.1:${await listening(server)}`;
  const stop = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  const proxy: Proxy = { url, targets: [], refusal: undefined, stop };
  return proxy;
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const trusted = getCACertificates('default');
let client: { certificate: string; key: string };
/** Demands a client certificate, and notes the presented ones. */
let strict: { server: Server; port: number; shown: string[] };
beforeAll(async () => {
  client = await selfSigned(['gateway']);
  const { certificate, key } = await selfSigned();
  const shown: string[] = [];
  const demands = { requestCert: true, rejectUnauthorized: true, ca: [client.certificate] };
  const server = createTlsServer({ cert: certificate, key, ...demands }, ({ socket }, response) => {
    shown.push(`${(socket as TLSSocket).getPeerCertificate().subjectaltname}`);
    response.end(ANSWER);
  });
  strict = { server, port: await listening(server), shown };
  setDefaultCACertificates([...trusted, certificate]);
});
afterAll(() => {
  setDefaultCACertificates(trusted);
  strict.server.close();
});

let upstream: FakeUpstream;
let front: TlsFront;
let proxy: Proxy;
let node: TestNode;
beforeEach(async () => {
  upstream = await startUpstream(() => ({ chunks: [ANSWER] }));
  front = await startTlsFront(Number(new URL(upstream.origin).port));
  setDefaultCACertificates([...getCACertificates('default'), front.certificate]);
  proxy = await startProxy();
  node = await startNode();
  strict.shown.length = 0;
});
afterEach(async () => {
  await node.close();
  await proxy.stop();
  await front.stop();
  await upstream.close();
});

async function ask(origin: string, changes: RouteChanges): Promise<number> {
  node.store.routes = [makeRoute(origin, changes)];
  return (await node.call(QUESTION)).status;
}

const certificateFor = (origin: string): RouteChanges['certificate'] => ({
  ...{ id: 'crd_tls', origin, binding: CLIENT_CERTIFICATE },
  secret: JSON.stringify({ certificate: client.certificate, privateKey: client.key }),
});
const through = (more: object = {}) => accessOf({ proxyUrl: proxy.url, ...more });

it('a proxy carries the encrypted request by CONNECT, and reads nothing of it', async () => {
  const origin = `https://localhost:${front.port}`;
  expect(await ask(origin, { provider: { access: through() } })).toBe(200);
  expect(proxy.targets).toEqual([`CONNECT localhost:${front.port}`]);
  expect(upstream.seen.map((seen) => seen.headers.authorization)).toEqual(['Bearer vendor-secret']);
});

it('a proxy carries the requests to the token endpoint, too', async () => {
  const server = new TokenServer(3_600_000);
  upstream.play = ({ path }) => (path === '/token' ? server.issue() : { chunks: [ANSWER] });
  const tokens = await startTlsFront(Number(new URL(upstream.origin).port));
  setDefaultCACertificates([...getCACertificates('default'), tokens.certificate]);
  const tokenUrl = `https://localhost:${tokens.port}/token`;
  const access = through({ auth: 'AZURE_ENTRA', tenantId: 't', clientId: 'c', tokenUrl });
  const origin = `https://localhost:${front.port}`;
  const credentials = [{ id: 'crd', origin, secret: 'client-secret', binding: bindingOf(access) }];
  expect(await ask(origin, { provider: { access }, credentials })).toBe(200);
  const targets = [`CONNECT localhost:${tokens.port}`, `CONNECT localhost:${front.port}`];
  expect(proxy.targets).toEqual(targets);
  await tokens.stop();
});

it('a proxy forwards the requests to an upstream without TLS', async () => {
  expect(await ask('http://upstream.invalid:8000', { provider: { access: through() } })).toBe(200);
  expect(proxy.targets).toEqual(['POST http://upstream.invalid:8000/v1/chat/completions']);
});

it.each([403, 407])(
  'a proxy that answers %i is a failure of the upstream, and is not bypassed',
  async (status) => {
    proxy.refusal = status;
    const origin = `https://localhost:${front.port}`;
    expect(await ask(origin, { provider: { access: through() } })).toBe(502);
    expect(upstream.seen).toEqual([]);
    expect(node.ledger.charges).toEqual([]);
  },
);

it('a client certificate is presented to the upstream that demands it, also through a proxy', async () => {
  const origin = `https://localhost:${strict.port}`;
  const certificate = certificateFor(origin);
  expect(await ask(origin, {})).toBe(502);
  expect(await ask(origin, { certificate })).toBe(200);
  expect(await ask(origin, { certificate, provider: { access: through() } })).toBe(200);
  expect(strict.shown).toEqual(['DNS:gateway', 'DNS:gateway']);
  expect(proxy.targets).toEqual([`CONNECT localhost:${strict.port}`]);
});

it('a client certificate is not presented to another origin than that it was added for', async () => {
  const certificate = certificateFor('https://api.example.com');
  expect(await ask(`https://localhost:${strict.port}`, { certificate })).toBe(502);
  expect(strict.shown).toEqual([]);
});
