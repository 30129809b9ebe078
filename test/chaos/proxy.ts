/** A TCP proxy that misbehaves on command: cuts, delays, tears a message in half, swallows everything. */
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * `cut`: connections are reset, new ones too. `delay`: everything comes late. `halve`: half of a message
 * passes, then the connection is reset. `blackhole`: nothing passes and nothing is reset. `deaf`: requests
 * pass, answers do not.
 */
export type Disturbance = 'cut' | 'delay' | 'halve' | 'blackhole' | 'deaf';

export const DISTURBANCES: readonly [Disturbance, ...Disturbance[]] = [
  'cut',
  'delay',
  'halve',
  'blackhole',
  'deaf',
];

const DELAY_MS = 150;

interface Link {
  near: Socket;
  far: Socket;
  /**
   * What a disturbance keeps back, the end of a side included: given on when it ends late, also of a process
   * that is dead by then; lost when the connection is reset.
   */
  kept: (() => void)[];
}

export interface Proxy {
  port: number;
  disturb(how: Disturbance): void;
  /** Ends the disturbance. What was kept back is delivered late, or its connections are reset. */
  heal(end: 'late' | 'reset'): void;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1 and passes everything to `port`. */
export async function startProxy(port: number): Promise<Proxy> {
  const wire = new Wire();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    wire.add({ near, far: connect({ port, host: '127.0.0.1', allowHalfOpen: true }), kept: [] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    disturb: (how) => wire.disturb(how),
    heal: (end) => wire.heal(end),
    close: () =>
      new Promise((resolve) => {
        wire.disturb('cut');
        server.close(() => resolve());
      }),
  };
}

/** All connections of a proxy, and what is done to them. */
class Wire {
  readonly #links = new Set<Link>();
  #mode: Disturbance | 'pass' = 'pass';

  add(link: Link): void {
    this.#links.add(link);
    this.#pump(link, link.near, link.far);
    this.#pump(link, link.far, link.near);
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
      if (link.near.destroyed && link.far.destroyed) this.#links.delete(link);
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
    if (this.#mode === 'blackhole' || (this.#mode === 'deaf' && from === link.far)) link.kept.push(deliver);
    else deliver();
  }

  #reset(link: Link): void {
    this.#links.delete(link);
    link.kept = [];
    for (const socket of [link.near, link.far]) socket.resetAndDestroy();
  }
}
