/**
 * HTTP/2 with TLS in front of a plain port, as the proxies of docs/operations give it to browsers: a browser
 * opens six connections to a server of HTTP/1.1, and asks one of HTTP/2 for everything at once.
 */
import { request, type IncomingMessage } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { selfSigned } from '../tls.ts';

interface Http2Front {
  /** The address for browsers. */
  url: string;
  /** Passes requests on to this port of 127.0.0.1 from now on. */
  toPort(port: number): void;
  stop(): Promise<void>;
}

/** Listens on a free port. */
export async function startHttp2Front(): Promise<Http2Front> {
  let target = 0;
  const { certificate, key } = await selfSigned();
  const sockets = new Set<Duplex>();
  const server = createSecureServer({ cert: certificate, key, allowHTTP1: true }, (asked, answer) => {
    passOn(target, asked, answer);
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('upgrade', (asked: IncomingMessage, socket: Duplex) => upgrade(target, asked, socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    toPort: (port) => {
      target = port;
    },
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function passOn(port: number, asked: Http2ServerRequest, answer: Http2ServerResponse): void {
  const {
    ':authority': host,
    ':path': path,
    ':method': method,
    ':scheme': _scheme,
    ...headers
  } = asked.headers;
  const passed = request({
    ...{ host: '127.0.0.1', port, path: path ?? asked.url, method: method ?? asked.method },
    headers: { ...headers, host: host ?? headers.host, 'x-forwarded-proto': 'https' },
  });
  passed.on('response', (response) => {
    const {
      connection: _own,
      'keep-alive': _alive,
      'transfer-encoding': _coding,
      ...rest
    } = response.headers;
    answer.writeHead(response.statusCode ?? 500, rest);
    response.pipe(answer);
  });
  passed.on('error', () => answer.stream?.close());
  asked.pipe(passed);
}

/** A WebSocket, whose bytes pass both ways. */
function upgrade(port: number, asked: IncomingMessage, socket: Duplex): void {
  const plain = connect(port, '127.0.0.1', () => {
    const lines = asked.rawHeaders.flatMap((name, at) =>
      at % 2 === 0 ? [`${name}: ${asked.rawHeaders[at + 1] ?? ''}`] : [],
    );
    plain.write(`GET ${asked.url ?? '/'} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    plain.pipe(socket).pipe(plain);
  });
  for (const end of [plain, socket]) end.on('error', () => end.destroy());
}
