import { expect, test } from 'vitest';
import type { NodeHeartbeatInput } from '@gateway/shared/node-api';
import { refusal } from './control-error.ts';
import { createLog } from './log.ts';
import { joinNodes } from './membership.ts';
import type { MembershipOptions } from './membership.ts';

const NODE_ID = 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** A member of a control plane that answers heartbeats like this. Returns how to leave. */
function member(
  heartbeat: (input: NodeHeartbeatInput) => Promise<{ draining: boolean }>,
  more: Partial<MembershipOptions>,
): (limitMs: number) => Promise<void> {
  return joinNodes({
    control: { register: async () => ({ id: NODE_ID, name: 'node' }), heartbeat },
    self: {
      name: 'node',
      version: '1',
      publicKey: 'key',
      journalId: 'journal',
      start: 3,
      instanceId: 'process',
    },
    log: createLog('silent'),
    vitals: () => ({
      appliedRevision: 1,
      inflight: 0,
      served: 0,
      usageBacklog: 0,
      formerSettled: true,
      upstreams: [],
      credentials: [],
      oldSecrets: [],
    }),
    now: () => ({ mono: performance.now(), wall: 0 }),
    onRegistered: () => {},
    onConfirmed: () => {},
    onDrain: () => {},
    ...more,
  });
}

test('a node that is to drain hears of it with its heartbeat, once its leases were confirmed', async () => {
  const heard: string[] = [];
  await new Promise<void>((resolve) => {
    const leave = member(async () => ({ draining: true }), {
      onConfirmed: () => heard.push('confirmed'),
      onDrain: () => {
        heard.push('drain');
        void leave(0);
        resolve();
      },
    });
  });
  expect(heard).toEqual(['confirmed', 'drain']);
});

test('a node whose place another process has taken ends, and says which mistake that is', async () => {
  const refused = refusal('nodeHeartbeat', [{ code: 'CONFLICT', message: 'Another process.' }]);
  await new Promise<void>((resolve) => {
    const leave = member(async () => Promise.reject(refused), {
      onDrain: () => {
        void leave(0);
        resolve();
      },
    });
  });
});

test('a node that the control plane knows no more, its database put back, registers again', async () => {
  const unknown = refusal('nodeHeartbeat', [{ code: 'NOT_FOUND', message: 'Not known.' }]);
  const said: string[] = [];
  await new Promise<void>((resolve) => {
    const leave = member(async () => ({ draining: false }), {
      control: {
        register: async ({ start, instanceId }) => {
          said.push(`${instanceId} registers with start ${start}`);
          return { id: NODE_ID, name: 'node' };
        },
        heartbeat: async () => {
          if (said.length === 1) throw unknown;
          return { draining: false };
        },
      },
      onConfirmed: () => {
        said.push('confirmed');
        void leave(0);
        resolve();
      },
      onDrain: () => said.push('drain'),
    });
  });
  const announced = 'process registers with start 3';
  expect(said).toEqual([announced, announced, 'confirmed']);
});

test('a node whose journal a later process has taken meanwhile ends', async () => {
  const unknown = refusal('nodeHeartbeat', [{ code: 'NOT_FOUND', message: 'Not known.' }]);
  const taken = refusal('nodeRegister', [{ code: 'CONFLICT', message: 'A later process.' }]);
  let isKnown = false;
  await new Promise<void>((resolve) => {
    const leave = member(async () => Promise.reject(unknown), {
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

test('each heartbeat names the process, and the last one says that no other follows', async () => {
  const beats: NodeHeartbeatInput[] = [];
  let first: () => void;
  const heard = new Promise<void>((resolve) => {
    first = resolve;
  });
  const leave = member(async (input) => {
    beats.push(input);
    first();
    return { draining: false };
  }, {});
  await heard;
  await leave(1_000);
  const always = { nodeId: NODE_ID, journalId: 'journal', instanceId: 'process', formerSettled: true };
  expect(beats).toMatchObject([
    { ...always, leaving: false },
    { ...always, leaving: true },
  ]);
});

test('a node that is refused says why when the reason changes, and is let in without a restart', async () => {
  const reasons = ['away', 'away', 'another process', 'another process'];
  const said: unknown[] = [];
  await new Promise<void>((resolve) => {
    const leave = member(async () => ({ draining: false }), {
      control: {
        register: async () => {
          const reason = reasons.shift();
          if (reason !== undefined) throw new Error(reason);
          return { id: NODE_ID, name: 'node' };
        },
        heartbeat: async () => ({ draining: false }),
      },
      log: { ...createLog('silent'), warn: (fields: object) => void said.push(fields) },
      onRegistered: () => {
        void leave(0);
        resolve();
      },
    });
  });
  expect(said).toEqual([{ reason: 'away' }, { reason: 'another process' }]);
});
