/** Tests the event bus of a process. */
import { describe, expect, it } from 'vitest';
import { createBus } from './events.ts';

describe('the event bus', () => {
  it('delivers an event to every subscriber of its topic and audience, and to no other', async () => {
    const bus = createBus();
    const subscriptions = ['usr_1', 'usr_1', 'usr_2'].map((audience) =>
      bus.subscribe('usageAdded', audience),
    );
    const [first, second, other] = subscriptions.map((subscription) => subscription.next());
    bus.publish('usageAdded', 'usr_1', { id: 'req_1' });
    bus.publish('walletUpdated', 'usr_2', { id: 'wal_2' });
    bus.publish('usageAdded', 'usr_2', { id: 'req_2' });
    expect(await first).toEqual({ done: false, value: { id: 'req_1' } });
    expect(await second).toEqual({ done: false, value: { id: 'req_1' } });
    expect(await other).toEqual({ done: false, value: { id: 'req_2' } });
    await Promise.all(subscriptions.map((subscription) => subscription.return()));
  });

  it('delivers to the remaining subscriber after another one has left', async () => {
    const bus = createBus();
    const [leaves, stays] = [bus.subscribe('usageAdded', 'usr_1'), bus.subscribe('usageAdded', 'usr_1')];
    const [last, first] = [leaves.next(), stays.next()];
    bus.publish('usageAdded', 'usr_1', { id: 'req_1' });
    await Promise.all([last, first, leaves.return()]);
    const second = stays.next();
    bus.publish('usageAdded', 'usr_1', { id: 'req_2' });
    expect(await second).toEqual({ done: false, value: { id: 'req_2' } });
    await stays.return();
  });
});
