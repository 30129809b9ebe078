/** Stands between a client and the gateway and notes how each request went and what it lost on its way. */
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Exchanged {
  method: string;
  path: string;
  status: number;
  /** JSON pointers that the upstream's format could not carry. */
  dropped: string[];
}

export interface Witness {
  /** By name, so that subdomains of it lead here, too. */
  url: string;
  seen: Exchanged[];
  /** Where requests go from now on: the gateway is told this address before it has one of its own. */
  passTo(gateway: string): void;
  stop(): void;
}

/** Passes everything on to the gateway as it comes, requests for WebSockets included. */
export async function startWitness(): Promise<Witness> {
  const target = { gateway: '', seen: [] as Exchanged[] };
  const server = createServer((request, response) => pass(target, request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    seen: target.seen,
    passTo: (gateway) => {
      target.gateway = gateway;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function pass(
  { gateway, seen }: { gateway: string; seen: Exchanged[] },
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = 'GET', url = '/', headers } = request;
  const passed = httpRequest(gateway + url, { method, headers }, (answer) => {
    const dropped = String(answer.headers['x-gateway-dropped'] ?? '');
    seen.push({
      method,
      path: url,
      status: answer.statusCode ?? 0,
      dropped: dropped ? dropped.split(', ').map((pointer) => decodeURIComponent(pointer)) : [],
    });
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  passed.once('error', () => response.destroy());
  response.once('close', () => passed.destroy());
  request.pipe(passed);
}
