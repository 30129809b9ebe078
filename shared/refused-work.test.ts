import { describe, expect, it } from 'vitest';
import {
  CHUNKED_REFUSAL_MS,
  LONGEST_PENALTY_MS,
  PENALTY_CONNECTIONS_PER_SECOND,
  REFUSED_WORK,
  REFUSED_WORK_OF_NETWORK,
  REFUSED_WORK_OF_STRANGERS,
  RefusedWork,
  droppingMs,
  readingMs,
} from './refused-work.ts';

const SECOND_MS = 1_000;
const HOSTILE = { caller: 'wallet', network: '192.0.2.1' };
const STRANGER = { caller: undefined, network: '192.0.2.1' };

let now = 0;
const fresh = (): RefusedWork => {
  now = 0;
  return new RefusedWork(() => now);
};
/** How many of so many new connections of a network are admitted. */
const admitted = (work: RefusedWork, count: number, network: string, isKnown = false): number =>
  Array.from({ length: count }, () => work.admits(network, isKnown)).filter(Boolean).length;

describe('a wallet', () => {
  it('may cause refused work at once, then waits, and the wait shrinks with time', () => {
    const work = fresh();
    work.spend(REFUSED_WORK.atOnce, HOSTILE);
    expect(work.waitMs('wallet')).toBe(0);
    work.spend(REFUSED_WORK.perSecond, HOSTILE);
    expect(work.waitMs('wallet')).toBe(SECOND_MS);
    expect(work.waitMs('another wallet')).toBe(0);
    now += SECOND_MS / 2;
    expect(work.waitMs('wallet')).toBe(SECOND_MS / 2);
    now += SECOND_MS / 2;
    expect(work.waitMs('wallet')).toBe(0);
  });

  it('never waits longer than LONGEST_PENALTY_MS', () => {
    const work = fresh();
    for (let count = 0; count < 100; count += 1) work.spend(REFUSED_WORK.atOnce, HOSTILE);
    expect(work.waitMs('wallet')).toBe(LONGEST_PENALTY_MS);
  });

  it('makes its network pay only once it has a penalty itself', () => {
    const work = fresh();
    work.spend(REFUSED_WORK.atOnce, HOSTILE);
    expect(admitted(work, 1_000, HOSTILE.network)).toBe(1_000);
    work.spend(2 * REFUSED_WORK_OF_NETWORK.atOnce, HOSTILE);
    expect(admitted(work, 1_000, HOSTILE.network)).toBe(PENALTY_CONNECTIONS_PER_SECOND);
  });
});

describe('a network', () => {
  it('with a penalty opens few connections per second, and more if customers are there', () => {
    const work = fresh();
    work.spend(2 * REFUSED_WORK_OF_NETWORK.atOnce, STRANGER);
    expect(admitted(work, 1_000, STRANGER.network)).toBe(PENALTY_CONNECTIONS_PER_SECOND);
    expect(admitted(work, 1_000, STRANGER.network, true)).toBe(PENALTY_CONNECTIONS_PER_SECOND);
    expect(admitted(work, 1_000, '192.0.2.2')).toBe(1_000);
    now += SECOND_MS;
    expect(admitted(work, 1_000, STRANGER.network)).toBe(PENALTY_CONNECTIONS_PER_SECOND);
    now += 2 * LONGEST_PENALTY_MS;
    expect(admitted(work, 1_000, STRANGER.network)).toBe(1_000);
  });

  it('opens few connections if all strangers together, and it among them, caused too much', () => {
    const work = fresh();
    const each = CHUNKED_REFUSAL_MS;
    const networks = 2 * (REFUSED_WORK_OF_STRANGERS.atOnce / each);
    for (let at = 0; at < networks; at += 1)
      work.spend(each, { caller: undefined, network: `network ${at}` });
    const connections = Array.from({ length: networks }, (_, at) => admitted(work, 1, `network ${at}`));
    expect(connections.filter(Boolean)).toHaveLength(PENALTY_CONNECTIONS_PER_SECOND);
    expect(admitted(work, 1_000, 'a network without refusals')).toBe(1_000);
  });
});

it('the cost of a body grows with its bytes and with its chunks', () => {
  const [one, million] = [1, 1_000_000];
  expect(readingMs({ bytes: million, chunks: one })).toBeCloseTo(5, 1);
  expect(droppingMs(million) - droppingMs(0)).toBeCloseTo(8, 1);
  expect(readingMs({ bytes: 10_000, chunks: 10_000 })).toBeGreaterThan(
    readingMs({ bytes: 10_000, chunks: one }) * 10,
  );
});
