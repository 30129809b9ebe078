/** Subscriptions of a signed-in browser over the real WebSocket. */
import { createClient } from 'graphql-ws';
import type { Client } from 'graphql-ws';
import WebSocket from 'ws';
import type { Browser, TestApp } from './app.ts';

/** A client that is signed in as the browser is now. */
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
  /** What the only field of the subscription told, in order. */
  heard: unknown[];
  client: Client;
}

/** Subscribes. It is surely followed once the first event was heard: tell one until then. */
export async function follow(
  client: Client,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Followed> {
  const heard: unknown[] = [];
  await new Promise<void>((resolve) => {
    client.on('connected', () => resolve());
    client.subscribe(
      { query, variables },
      {
        next: ({ data }) => heard.push(...Object.values(data ?? {})),
        error: (error) => heard.push(error),
        complete: () => undefined,
      },
    );
  });
  return { heard, client };
}
