/** GraphQL subscriptions of a signed-in browser over a real WebSocket, for tests. */
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import WebSocket from 'ws';
import type { Browser, TestApp } from './app.ts';

/** A GraphQL client with the browser's present session cookie. */
export function socketClient(test: Pick<TestApp, 'url'>, browser: Browser): Client {
  const cookie = browser.cookie ?? '';
  class Socket extends WebSocket {
    constructor(url: string, protocol: string) {
      super(url, protocol, { headers: { cookie } });
    }
  }
  return createClient({ url: `${test.url.replace('http', 'ws')}/graphql`, webSocketImpl: Socket });
}

export interface Followed {
  /** Values of the subscription's only field, and errors, in the order of their arrival. */
  received: unknown[];
  client: Client;
}

/**
 * Subscribes, and resolves when the socket is connected. The subscription itself may start later: a test
 * repeats its first event until that arrives.
 */
export async function follow(
  client: Client,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Followed> {
  const received: unknown[] = [];
  await new Promise<void>((resolve) => {
    client.on('connected', () => resolve());
    client.subscribe(
      { query, variables },
      {
        next: ({ data, errors }) => received.push(...Object.values(data ?? {}), ...(errors ?? [])),
        error: (error) => received.push(error),
        complete: () => undefined,
      },
    );
  });
  return { received, client };
}
