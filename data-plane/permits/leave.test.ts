/** How a node that shuts down announces to the control plane that it leaves. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { PERMIT_TTL_MS, PROMISE_MS } from '@gateway/shared/permits';
import type { NodePermitPromiseInput } from '@gateway/shared/permit-api';
import type { PoolRecord } from '@gateway/shared/records';
import { SETTINGS } from '../../test/request-path.ts';
import type { Config } from '../config/config.ts';
import { NodePermits } from './permits.ts';

interface PromiseAnswer {
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

/** A node, and a control plane whose answers to promises can be set. */
function open() {
  const promises: NodePermitPromiseInput[] = [];
  const clock = { now: 1_000 };
  let answer = async (input: NodePermitPromiseInput): Promise<PromiseAnswer> =>
    input.heard === null
      ? { clock: '5000', accepted: false, hasRoom: true }
      : { clock: '5000', accepted: true, hasRoom: true };
  const config = { hasPools: true, settings: { ...SETTINGS, nodeIds: ['node_1', 'node_2'] } };
  const permits = new NodePermits({
    control: {
      promisePermits: (input) => {
        promises.push(input);
        return answer(input);
      },
      requestPermits: async () => {
        throw new Error('away');
      },
    },
    mark: { saysNotAlone: true, write: () => undefined },
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
    promises,
    clock,
    until,
    setAnswer: (next: typeof answer) => {
      answer = next;
    },
  };
}

const kindsOf = (promises: readonly NodePermitPromiseInput[]): string[] =>
  promises.map(({ heard, leaving }) => (leaving ? 'leaving' : heard === null ? 'clock' : 'promise'));

test('a leaving node announces it only after the promise under way is answered', async () => {
  const { permits, promises, until, setAnswer, clock } = open();
  await until(() => kindsOf(promises).includes('promise'));
  const gate = Promise.withResolvers<PromiseAnswer>();
  const accepted = { clock: '6000', accepted: true, hasRoom: true };
  setAnswer(() => gate.promise);
  const before = promises.length;
  clock.now += 1_100;
  await until(() => promises.length > before);
  const left = permits.leave();
  await pause(30);
  expect(kindsOf(promises)).not.toContain('leaving');
  setAnswer(async () => accepted);
  gate.resolve(accepted);
  await left;
  expect(promises.at(-1)).toMatchObject({ leaving: true, heard: '6000', alone: [], nodes: 2, place: 0 });
});

test('a leaving node repeats the announcement until it is accepted, with a new clock if needed', async () => {
  const { permits, promises, until, setAnswer } = open();
  await until(() => kindsOf(promises).includes('promise'));
  let failures = 2;
  setAnswer(async ({ heard }) => {
    if ((failures -= 1) >= 0) throw new Error('away');
    return { clock: '90000', accepted: heard === '90000', hasRoom: true };
  });
  await permits.leave();
  expect(kindsOf(promises).slice(-4)).toEqual(['leaving', 'leaving', 'leaving', 'leaving']);
  expect(promises.at(-1)?.heard).toBe('90000');
});

test('a leaving node reports the requests admitted alone, and admits no further ones', async () => {
  const { permits, promises, until, setAnswer, clock } = open();
  await until(() => kindsOf(promises).includes('promise'));
  setAnswer(async () => {
    throw new Error('away');
  });
  // After this time without the control plane the node may use its whole share.
  clock.now += PROMISE_MS + PERMIT_TTL_MS + 61_000;
  await permits.admit(pool);
  setAnswer(async ({ heard }) => ({ clock: '70000', accepted: heard === '70000', hasRoom: true }));
  await permits.leave();
  const announcement = promises.at(-1);
  expect(announcement).toMatchObject({ leaving: true, alone: [{ poolId: pool.id, used: 1 }] });
  await expect(permits.admit(pool)).rejects.toThrow('cannot count');
});

test('a leaving node stops within its time limit even if nobody answers', async () => {
  const { permits, promises, until, setAnswer } = open();
  await until(() => kindsOf(promises).includes('promise'));
  setAnswer(() => new Promise(() => undefined));
  await permits.stop(20);
  expect(kindsOf(promises)).toContain('leaving');
});
