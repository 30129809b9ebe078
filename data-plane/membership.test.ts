import { expect, test } from 'vitest';
import type { NodeHeartbeatInput } from '@gateway/shared/node-api';
import { createLog } from './log.ts';
import { joinNodes } from './membership.ts';
import type { MembershipOptions } from './membership.ts';

const NODE_ID = 'nod_01ARZ3NDEKTSV4RRFFQ69G5FAV';

/** A member of a control plane that answers heartbeats like this. Returns how to leave. */
function member(
  heartbeat: (input: NodeHeartbeatInput) => Promise<{ draining: boolean }>,
  more: Partial<MembershipOptions>,
): () => void {
  return joinNodes({
    control: { register: async () => ({ id: NODE_ID, name: 'node' }), heartbeat },
    self: { name: 'node', version: '1', publicKey: 'key', journalId: 'journal' },
    log: createLog('silent'),
    vitals: () => ({
      appliedRevision: 1,
      inflight: 0,
      served: 0,
      usageBacklog: 0,
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
        leave();
        resolve();
      },
    });
  });
  expect(heard).toEqual(['confirmed', 'drain']);
});
