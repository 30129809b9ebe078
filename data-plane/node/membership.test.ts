import { expect, test } from 'vitest';
import type { NodeHeartbeatInput } from '@gateway/shared/node-api';
import { refusalError } from '../control/error.ts';
import { createLog } from '../log.ts';
import { startMembership } from './membership.ts';
import type { MembershipOptions } from './membership.ts';

const NODE_ID = 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** Starts a member of a control plane with these heartbeat answers. Returns how to leave. */
function startMember(
  heartbeat: (input: NodeHeartbeatInput) => Promise<{ draining: boolean }>,
  more: Partial<MembershipOptions>,
): (limitMs: number) => Promise<void> {
  return startMembership({
    control: { register: async () => ({ id: NODE_ID, name: 'node' }), heartbeat },
    self: {
      name: 'node',
      version: '1',
      publicKey: 'key',
      journalId: 'journal',
      start: 3,
      instanceId: 'process',
      maxConfigAgeSeconds: 60,
    },
    log: createLog({ instance: 'test', lowest: 'silent' }),
    status: () => ({
      appliedRevision: 1,
      inflight: 0,
      served: 0,
      usageBacklog: 0,
      formerSettled: true,
      upstreams: [],
      credentials: [],
      routes: [],
      oldSecrets: [],
    }),
    now: () => ({ mono: performance.now(), wall: 0 }),
    onRegistered: () => {},
    onHeartbeatAnswered: () => {},
    onDrain: () => {},
    ...more,
  });
}

test('an answered heartbeat confirms the leases before it drains the node', async () => {
  const events: string[] = [];
  await new Promise<void>((resolve) => {
    const leave = startMember(async () => ({ draining: true }), {
      onHeartbeatAnswered: () => events.push('confirmed'),
      onDrain: () => {
        events.push('drain');
        void leave(0);
        resolve();
      },
    });
  });
  expect(events).toEqual(['confirmed', 'drain']);
});

test('a node that another process has replaced drains', async () => {
  const refused = refusalError('nodeHeartbeat', [{ code: 'CONFLICT', message: 'Another process.' }]);
  await new Promise<void>((resolve) => {
    const leave = startMember(async () => Promise.reject(refused), {
      onDrain: () => {
        void leave(0);
        resolve();
      },
    });
  });
});

test('a node that the control plane does not know registers again', async () => {
  const unknown = refusalError('nodeHeartbeat', [{ code: 'NOT_FOUND', message: 'Not known.' }]);
  const logged: string[] = [];
  await new Promise<void>((resolve) => {
    const leave = startMember(async () => ({ draining: false }), {
      control: {
        register: async ({ start, instanceId }) => {
          logged.push(`${instanceId} registers with start ${start}`);
          return { id: NODE_ID, name: 'node' };
        },
        heartbeat: async () => {
          if (logged.length === 1) throw unknown;
          return { draining: false };
        },
      },
      onHeartbeatAnswered: () => {
        logged.push('confirmed');
        void leave(0);
        resolve();
      },
      onDrain: () => logged.push('drain'),
    });
  });
  const announced = 'process registers with start 3';
  expect(logged).toEqual([announced, announced, 'confirmed']);
});

test('a node that is refused on registering again drains', async () => {
  const unknown = refusalError('nodeHeartbeat', [{ code: 'NOT_FOUND', message: 'Not known.' }]);
  const taken = refusalError('nodeRegister', [{ code: 'CONFLICT', message: 'A later process.' }]);
  let isKnown = false;
  await new Promise<void>((resolve) => {
    const leave = startMember(async () => Promise.reject(unknown), {
      control: {
        register: async () => {
          if (isKnown) throw taken;
          isKnown = true;
          return { id: NODE_ID, name: 'node' };
        },
        heartbeat: async () => Promise.reject(unknown),
      },
      onDrain: () => {
        void leave(0);
        resolve();
      },
    });
  });
});

test('each heartbeat names the process, and the last one has `leaving`', async () => {
  const beats: NodeHeartbeatInput[] = [];
  let first: () => void;
  const events = new Promise<void>((resolve) => {
    first = resolve;
  });
  const leave = startMember(async (input) => {
    beats.push(input);
    first();
    return { draining: false };
  }, {});
  await events;
  await leave(1_000);
  const always = { nodeId: NODE_ID, journalId: 'journal', instanceId: 'process', formerSettled: true };
  expect(beats).toMatchObject([
    { ...always, leaving: false },
    { ...always, leaving: true },
  ]);
});

test('a refused registration is retried, and logged when its reason changes', async () => {
  const reasons = ['away', 'away', 'another process', 'another process'];
  const logged: unknown[] = [];
  await new Promise<void>((resolve) => {
    const leave = startMember(async () => ({ draining: false }), {
      control: {
        register: async () => {
          const reason = reasons.shift();
          if (reason !== undefined) throw new Error(reason);
          return { id: NODE_ID, name: 'node' };
        },
        heartbeat: async () => ({ draining: false }),
      },
      log: {
        ...createLog({ instance: 'test', lowest: 'silent' }),
        warn: (fields: object) => void logged.push(fields),
      },
      onRegistered: () => {
        void leave(0);
        resolve();
      },
    });
  });
  expect(logged).toEqual([{ reason: 'away' }, { reason: 'another process' }]);
});
