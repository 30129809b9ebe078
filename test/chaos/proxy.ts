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
  /** What a disturbance keeps back: given on when it ends late, lost when the connection is reset. */
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
  const links = new Set<Link>();
  let mode: Disturbance | 'pass' = 'pass';
  const reset = (link: Link): void => {
    links.delete(link);
    link.kept = [];
    for (const socket of [link.near, link.far]) socket.resetAndDestroy();
  };
  const pump = (link: Link, from: Socket, to: Socket): void => {
    from.on('data', (chunk: Buffer) => {
      if (mode === 'halve') {
        to.write(chunk.subarray(0, Math.floor(chunk.length / 2)), () => reset(link));
      } else if (mode === 'delay') {
        setTimeout(() => to.write(chunk), DELAY_MS);
      } else if (mode === 'blackhole' || (mode === 'deaf' && from === link.far)) {
        link.kept.push(() => to.write(chunk));
      } else {
        to.write(chunk);
      }
    });
    from.on('end', () => to.end());
    from.on('error', () => reset(link));
    from.on('close', () => links.delete(link));
  };
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const link: Link = { near, far, kept: [] };
    links.add(link);
    pump(link, near, far);
    pump(link, far, near);
    if (mode === 'cut') reset(link);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    disturb: (how) => {
      mode = how;
      if (how === 'cut') for (const link of links) reset(link);
    },
    heal: (end) => {
      mode = 'pass';
      for (const link of links) {
        if (link.kept.length === 0) continue;
        if (end === 'reset') reset(link);
        for (const deliver of link.kept.splice(0)) deliver();
      }
    },
    close: () =>
      new Promise((resolve) => {
        for (const link of links) reset(link);
        server.close(() => resolve());
      }),
  };
}
