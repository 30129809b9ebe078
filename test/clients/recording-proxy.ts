/** A proxy between a client and the gateway that records the status of each request and what it lost. */
import { createServer, request as httpRequest } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request with its answer. */
export interface RecordedRequest {
  method: string;
  path: string;
  status: number;
  /** JSON pointers of the parts that the upstream's format could not carry. */
  dropped: string[];
}

export interface RecordingProxy {
  /** Address with a host name, so that its subdomains lead to the proxy, too. */
  url: string;
  seen: RecordedRequest[];
  /** Sets the address of the gateway. The gateway needs the address of the proxy before it starts. */
  forwardTo(gateway: string): void;
  stop(): void;
}

/** Starts a proxy that forwards everything to the gateway without changes, also requests for WebSockets. */
export async function startRecordingProxy(): Promise<RecordingProxy> {
  const target = { gateway: '', seen: [] as RecordedRequest[] };
  const server = createServer((request, response) => forward(target, request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    seen: target.seen,
    forwardTo: (gateway) => {
      target.gateway = gateway;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function forward(
  { gateway, seen }: { gateway: string; seen: RecordedRequest[] },
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = 'GET', url = '/', headers } = request;
  const outgoing = httpRequest(gateway + url, { method, headers }, (answer) => {
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
  outgoing.once('error', () => response.destroy());
  response.once('close', () => outgoing.destroy());
  request.pipe(outgoing);
}
