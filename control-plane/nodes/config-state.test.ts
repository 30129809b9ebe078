/** Tests of the configuration in memory: snapshots and deltas agree, and each part is encoded once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConfigEvent } from '@gateway/shared/node-api';
import { account, FeedNode } from '../../test/feed-node.ts';
import type { LogRow } from '../database/config-log.ts';
import { CHUNK_ENTRIES_MAX, ConfigState } from './config-state.ts';
import { EventQueue } from './event-queue.ts';
import type { FeedEvent } from './sealed-events.ts';

/** The event as a node without compression gets it; the tests of the state have no secrets. */
async function sent(event: FeedEvent): Promise<ConfigEvent> {
  if (event.__typename !== 'ConfigSnapshot') return event;
  const { part, hasSecrets: _hasSecrets, ...rest } = event;
  return { ...rest, entries: await part.entries() };
}

/** Applies events to a node. */
async function applyAll(node: FeedNode, events: readonly FeedEvent[]): Promise<void> {
  for (const event of events) node.apply(await sent(event));
}

describe('ConfigState', () => {
  it('yields the same entries and checksum through a snapshot and any sequence of deltas', async () => {
    const step = fc.record({ key: fc.nat(6), removed: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 12 }),
        fc.nat(12),
        async (batches, joinAt) => {
          const state = new ConfigState();
          const early = new FeedNode(state.snapshot()[Symbol.iterator]() as never);
          const late = new FeedNode(state.snapshot()[Symbol.iterator]() as never);
          for (const [at, batch] of batches.entries()) {
            const rows = new Map(
              batch.map(({ key, removed }): [number, LogRow] => [
                key,
                {
                  kind: 'ACCOUNT',
                  key: String(key),
                  revision: at + 1,
                  payload: removed ? null : account(String(key)),
                },
              ]),
            );
            const delta = state.advance([...rows.values()], { revision: at + 1, prunedTo: 0 });
            if (delta) early.apply(delta);
            if (at === joinAt) await applyAll(late, state.since(0) ?? []);
            else if (at > joinAt && delta) late.apply(delta);
          }
          if (joinAt >= batches.length) await applyAll(late, state.since(0) ?? []);
          const fresh = new FeedNode(state.snapshot()[Symbol.iterator]() as never);
          await applyAll(fresh, state.snapshot());
          for (const holder of [early, late, fresh]) {
            expect(holder.ownChecksum).toBe(state.checksum);
            expect([...holder.entries.keys()].sort()).toEqual([...fresh.entries.keys()].sort());
          }
        },
      ),
    );
  });

  it('splits a large snapshot into chunks with the same revision and checksum', async () => {
    const state = new ConfigState();
    const count = CHUNK_ENTRIES_MAX * 2 + 1;
    const rows = Array.from({ length: count }, (_, at): LogRow => ({
      kind: 'ACCOUNT',
      key: String(at),
      revision: 1,
      payload: account(String(at)),
    }));
    const delta = state.advance(rows, { revision: 1, prunedTo: 0 });
    expect(delta && state.asEvents(delta)).toHaveLength(3);
    const chunks = state.snapshot();
    const sizes = chunks.map(async ({ chunk, chunks: all, part }) => [
      chunk,
      all,
      (await part.entries()).length,
    ]);
    expect(await Promise.all(sizes)).toEqual([
      [0, 3, CHUNK_ENTRIES_MAX],
      [1, 3, CHUNK_ENTRIES_MAX],
      [2, 3, 1],
    ]);
    expect(new Set(chunks.map((chunk) => chunk.checksum)).size).toBe(1);
  });

  it('encodes each part of a snapshot once, and again only the parts that have changed', async () => {
    const state = new ConfigState();
    const row = (at: number, revision: number): LogRow => ({
      ...{ kind: 'ACCOUNT', key: String(at), revision, payload: account(String(at)) },
    });
    const count = CHUNK_ENTRIES_MAX * 2;
    state.advance(
      Array.from({ length: count }, (_, at) => row(at, 1)),
      { revision: 1, prunedTo: 0 },
    );
    const packed = (): Promise<string[]> => Promise.all(state.snapshot().map(({ part }) => part.packed()));
    const parts = state.snapshot();
    const first = await packed();
    state.advance([row(5, 2)], { revision: 2, prunedTo: 0 });
    expect(await Promise.all(parts.map(({ part }) => part.packed()))).toEqual(first);
    const second = await packed();
    expect([second[0] === first[0], second[1] === first[1]]).toEqual([false, true]);
    expect(state.snapshot()[1]?.part).toBe(parts[1]?.part);
  });

  it('sends a snapshot to a node that lacks more changes than it remembers', () => {
    const state = new ConfigState();
    const changes = 50_000;
    for (let revision = 1; revision <= changes; revision += 1)
      state.advance([{ kind: 'ACCOUNT', key: String(revision % 7), revision, payload: account('a') }], {
        ...{ revision, prunedTo: 0 },
      });
    expect(state.since(1)).toMatchObject([{ __typename: 'ConfigSnapshot' }]);
    expect(state.since(changes - 3)).toMatchObject([
      { __typename: 'ConfigDelta', fromRevision: changes - 3 },
    ]);
  });
});

describe('EventQueue', () => {
  it('ends when too many items wait', async () => {
    const queue = new EventQueue<number>(2);
    expect([queue.push(1), queue.push(2), queue.push(3)]).toEqual([true, true, false]);
    expect(await queue.next()).toBeUndefined();
  });
});
