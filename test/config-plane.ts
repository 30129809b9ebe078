/** A small control plane for the configuration feed of nodes, which speaks graphql-ws over a real socket. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { graphql } from 'graphql';
import type { GraphQLError } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { expect } from 'vitest';
import { WebSocketServer } from 'ws';
import type { ConfigEvent } from '@gateway/shared/node-api';
import { SCHEMA } from './node-api-schema.ts';

/** An acknowledgement that a node sent. */
interface Ack {
  revision: number;
  error?: string;
}
/** One subscription of a node. */
interface Follower {
  fromRevision: number | null;
  push(event: ConfigEvent): void;
  end(error?: GraphQLError): void;
}

/** A small control plane. */
export interface Plane {
  url: string;
  port: number;
  acks: Ack[];
  /** Number of the next acknowledgements that fail with an error. */
  lost: { acks: number };
  followers: Follower[];
  /** Waits for the n-th subscription. */
  follower(number: number): Promise<Follower>;
  close(): Promise<void>;
}

/** Starts a control plane on this port, or on any. */
export async function startPlane(port = 0): Promise<Plane> {
  const acks: Ack[] = [];
  const followers: Follower[] = [];
  const lost = { acks: 0 };
  const rootValue = {
    nodeConfigAck: ({ input }: { input: Ack }) => {
      if (lost.acks > 0) {
        lost.acks -= 1;
        throw new Error('lost');
      }
      acks.push(input);
      return { ok: true, userErrors: [] };
    },
  };
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
      void graphql({ schema: SCHEMA, source: query, variableValues: variables, rootValue }).then((result) => {
        response.setHeader('content-type', 'application/json').end(JSON.stringify(result));
      });
    });
  });
  const sockets = new WebSocketServer({ server, path: '/graphql' });
  const roots = {
    dataPlaneConfig: ({ fromRevision = null }: { fromRevision?: number | null }) =>
      follow(followers, fromRevision),
  };
  useServer({ schema: SCHEMA, roots: { subscription: roots } }, sockets);
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  const at = (server.address() as AddressInfo).port;
  const close = async () => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  };
  const follower = async (number: number): Promise<Follower> => {
    await expect.poll(() => followers.length).toBeGreaterThanOrEqual(number);
    return followers[number - 1] as Follower;
  };
  return { url: `http://127.0.0.1:${at}`, port: at, acks, lost, followers, follower, close };
}

async function* follow(
  followers: Follower[],
  fromRevision: number | null,
): AsyncGenerator<{ dataPlaneConfig: ConfigEvent }> {
  const events: (ConfigEvent | { error: GraphQLError | undefined })[] = [];
  let wake = () => undefined as void;
  const add = (event: ConfigEvent | { error: GraphQLError | undefined }) => {
    events.push(event);
    wake();
  };
  followers.push({ fromRevision, push: add, end: (error) => add({ error }) });
  for (;;) {
    const event = events.shift();
    if (!event)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    else if ('error' in event) {
      if (event.error) throw event.error;
      return;
    } else yield { dataPlaneConfig: event };
  }
}
