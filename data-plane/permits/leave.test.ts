/** The last words of a node that takes nothing new: they are heard, and nothing is heard after them. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { PERMIT_TTL_MS, PROMISE_MS } from '@gateway/shared/permits';
import type { NodePermitPromiseInput } from '@gateway/shared/permit-api';
import type { PoolRecord } from '@gateway/shared/records';
import { SETTINGS } from '../../test/request-path.ts';
import type { Config } from '../config/config.ts';
import { NodePermits } from './permits.ts';

interface Heard {
  clock: string;
  accepted: boolean;
  hasRoom: boolean;
}

const log = { warn: () => undefined, info: () => undefined, error: () => undefined };
const pool: PoolRecord = {
  ...{ kind: 'POOL', id: 'pool_1', name: 'Pool', subdomain: 'pool', models: [] },
  ...{ rpmCap: 60, paidUntil: Number.MAX_SAFE_INTEGER },
};
const opened: NodePermits[] = [];

afterEach(() => Promise.all(opened.splice(0).map((permits) => permits.stop(0))));

/** A control plane that answers by hand, with permits for everybody, and a node of it. */
function open() {
  const said: NodePermitPromiseInput[] = [];
  const clock = { now: 1_000 };
  let answer = async (input: NodePermitPromiseInput): Promise<Heard> =>
    input.heard === null
      ? { clock: '5000', accepted: false, hasRoom: true }
      : { clock: '5000', accepted: true, hasRoom: true };
  const config = { hasPools: true, settings: { ...SETTINGS, nodeIds: ['node_1', 'node_2'] } };
  const permits = new NodePermits({
    control: {
      promisePermits: (input) => {
        said.push(input);
        return answer(input);
      },
      requestPermits: async () => {
        throw new Error('away');
      },
    },
    mark: { isClear: true, write: () => undefined },
    log,
    now: () => clock.now,
    random: () => 0,
    ownId: () => 'node_1',
    store: { current: config as Config },
  });
  opened.push(permits);
  const until = async (done: () => boolean): Promise<void> => {
    while (!done()) await pause(5);
  };
  return {
    permits,
    said,
    clock,
    until,
    answerWith: (next: typeof answer) => {
      answer = next;
    },
  };
}

const kinds = (said: readonly NodePermitPromiseInput[]): string[] =>
  said.map(({ heard, leaving }) => (leaving ? 'leaving' : heard === null ? 'clock' : 'promise'));

it('are said after the promise under way was answered, so that it cannot overtake them', async () => {
  const { permits, said, until, answerWith, clock } = open();
  await until(() => kinds(said).includes('promise'));
  const gate = Promise.withResolvers<Heard>();
  const accepted = { clock: '6000', accepted: true, hasRoom: true };
  answerWith(() => gate.promise);
  const before = said.length;
  clock.now += 1_100;
  await until(() => said.length > before);
  const left = permits.leave();
  await pause(30);
  expect(kinds(said)).not.toContain('leaving');
  answerWith(async () => accepted);
  gate.resolve(accepted);
  await left;
  expect(said.at(-1)).toMatchObject({ leaving: true, heard: '6000', alone: [], nodes: 2, place: 0 });
});

it('are said again until they are heard, with a fresh clock where the last one is too old', async () => {
  const { permits, said, until, answerWith } = open();
  await until(() => kinds(said).includes('promise'));
  let failures = 2;
  answerWith(async ({ heard }) => {
    if ((failures -= 1) >= 0) throw new Error('away');
    return { clock: '90000', accepted: heard === '90000', hasRoom: true };
  });
  await permits.leave();
  expect(kinds(said).slice(-4)).toEqual(['leaving', 'leaving', 'leaving', 'leaving']);
  expect(said.at(-1)?.heard).toBe('90000');
});

it('tell what was admitted without permits, and nothing is admitted so any more', async () => {
  const { permits, said, until, answerWith, clock } = open();
  await until(() => kinds(said).includes('promise'));
  answerWith(async () => {
    throw new Error('away');
  });
  // It looks on for a minute as long as it is heard no more; then its whole share is safe.
  clock.now += PROMISE_MS + PERMIT_TTL_MS + 61_000;
  await permits.admit(pool);
  answerWith(async ({ heard }) => ({ clock: '70000', accepted: heard === '70000', hasRoom: true }));
  await permits.leave();
  const told = said.at(-1);
  expect(told).toMatchObject({ leaving: true, alone: [{ poolId: pool.id, used: 1 }] });
  await expect(permits.admit(pool)).rejects.toThrow('cannot count');
});

it('take no longer than the end may take', async () => {
  const { permits, said, until, answerWith } = open();
  await until(() => kinds(said).includes('promise'));
  answerWith(() => new Promise(() => undefined));
  await permits.stop(20);
  expect(kinds(said)).toContain('leaving');
});
