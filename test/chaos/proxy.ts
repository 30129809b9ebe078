/** A TCP proxy that disturbs its connections on command: resets, delays, truncates or drops. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * `cut`: resets all connections, also new ones. `delay`: delivers everything late. `halve`: delivers half of
 * a chunk, then resets the connection. `blackhole`: delivers nothing, without a reset. `one-way`: delivers
 * requests, but no answers.
 */
export type Disturbance = 'cut' | 'delay' | 'halve' | 'blackhole' | 'one-way';

export const DISTURBANCES: readonly [Disturbance, ...Disturbance[]] = [
  'cut',
  'delay',
  'halve',
  'blackhole',
  'one-way',
];

const DELAY_MS = 150;

interface Link {
  client: Socket;
  server: Socket;
  /**
   * Deliveries that a disturbance keeps back, including the end of a side. They are made when the disturbance
   * ends with `late`, even if the sender is dead by then, and dropped when the connection is reset.
   */
  kept: (() => void)[];
}

export interface Proxy {
  port: number;
  disturb(how: Disturbance): void;
  /** Ends the disturbance: kept data is delivered late, or connections with kept data are reset. */
  heal(end: 'late' | 'reset'): void;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1, and forwards connections to `port`. */
export async function startProxy(port: number): Promise<Proxy> {
  const links = new Links();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    links.add({ client, server: connect({ port, host: '127.0.0.1', allowHalfOpen: true }), kept: [] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    disturb: (how) => links.disturb(how),
    heal: (end) => links.heal(end),
    close: () =>
      new Promise((resolve) => {
        links.disturb('cut');
        server.close(() => resolve());
      }),
  };
}

/** All connections of a proxy, and their present disturbance. */
class Links {
  readonly #links = new Set<Link>();
  #mode: Disturbance | 'pass' = 'pass';

  add(link: Link): void {
    this.#links.add(link);
    this.#pump(link, link.client, link.server);
    this.#pump(link, link.server, link.client);
    if (this.#mode === 'cut') this.#reset(link);
  }

  disturb(how: Disturbance): void {
    this.#mode = how;
    if (how === 'cut') for (const link of this.#links) this.#reset(link);
  }

  heal(end: 'late' | 'reset'): void {
    this.#mode = 'pass';
    for (const link of this.#links) {
      if (link.kept.length === 0) continue;
      if (end === 'reset') this.#reset(link);
      for (const deliver of link.kept.splice(0)) deliver();
      if (link.client.destroyed && link.server.destroyed) this.#links.delete(link);
    }
  }

  #pump(link: Link, from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => {
      const mode = this.#mode;
      if (mode === 'halve') {
        to.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => this.#reset(link));
      } else if (mode === 'delay') {
        setTimeout(() => to.write(chunk), DELAY_MS);
      } else {
        this.#pass(link, from, () => to.write(chunk));
      }
    });
    from.on('end', () => this.#pass(link, from, () => to.end()));
    from.on('error', () => this.#pass(link, from, () => this.#reset(link)));
    from.on('close', () => {
      if (link.kept.length === 0) this.#links.delete(link);
    });
  }

  #pass(link: Link, from: Socket, deliver: () => void): void {
    const isKept = this.#mode === 'blackhole' || (this.#mode === 'one-way' && from === link.server);
    if (isKept) link.kept.push(deliver);
    else deliver();
  }

  #reset(link: Link): void {
    this.#links.delete(link);
    link.kept = [];
    for (const socket of [link.client, link.server]) socket.resetAndDestroy();
  }
}
