import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { exportPublicKey } from '@gateway/shared/sealing';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, sql } from '../database/sql.ts';
import { Confirmations } from './confirmations.ts';
import type { ServingWorker } from './confirmations.ts';
import { createNode, drainNode } from './node.service.ts';
import { acknowledge, endStream, markStreams, servingNodes } from './node.stream.ts';
import { registerNode } from './registration.service.ts';

const HOUR_MS = 3_600_000;

/** A node that has applied this revision. */
const node = (id: string, appliedRevision: number, isReachable = true): ServingWorker => ({
  nodeId: id,
  id,
  appliedRevision,
  isReachable,
});

describe('Confirmations', () => {
  it('answers at once when every node has applied the revision', async () => {
    const confirmations = new Confirmations(async () => [node('one', 7), node('two', 8)]);
    expect(await confirmations.wait(7, 60_000)).toEqual({ appliedNodes: 2, pendingNodes: [] });
  });

  it('names an unreachable node without waiting for it', async () => {
    const confirmations = new Confirmations(async () => [node('lost', 6, false), node('well', 7)]);
    expect(await confirmations.wait(7, 60_000)).toEqual({ appliedNodes: 1, pendingNodes: ['lost'] });
  });

  it('counts a node once, when all its workers have applied the revision, and else names it', async () => {
    const second = { ...node('one-2', 7), nodeId: 'one' };
    const done = new Confirmations(async () => [node('one', 7), second, node('two', 7)]);
    expect(await done.wait(7, 60_000)).toEqual({ appliedNodes: 2, pendingNodes: [] });
    const lost = [
      { ...second, appliedRevision: 6, isReachable: false },
      { ...second, id: 'one-3' },
    ];
    const pending = new Confirmations(async () => [node('one', 7), ...lost, node('two', 7)]);
    expect(await pending.wait(7, 60_000)).toEqual({ appliedNodes: 1, pendingNodes: ['one'] });
  });

  it('names a node that applies nothing for the timeout', async () => {
    const confirmations = new Confirmations(async () => [node('frozen', 6), node('well', 7)]);
    expect(await confirmations.wait(7, 150)).toEqual({ appliedNodes: 1, pendingNodes: ['frozen'] });
  });

  it('waits longer than the timeout for a node that keeps applying revisions', async () => {
    let applied = 0;
    const confirmations = new Confirmations(async () => [node('busy', (applied += 1))]);
    expect(await confirmations.wait(6, 250)).toEqual({ appliedNodes: 1, pendingNodes: [] });
    expect(applied).toBe(6);
  });

  it('looks again at once after an acknowledgement', async () => {
    let applied = 6;
    const confirmations = new Confirmations(async () => [node('one', applied)]);
    const waiting = confirmations.wait(7, 60_000);
    await pause(5);
    applied = 7;
    const at = performance.now();
    confirmations.noteChange();
    expect(await waiting).toEqual({ appliedNodes: 1, pendingNodes: [] });
    expect(performance.now() - at).toBeLessThan(90);
  });

  it('reads the nodes a few times for 1,000 waiting calls, and after each call began', async () => {
    let reads = 0;
    let applied = 0;
    const confirmations = new Confirmations(async () => {
      reads += 1;
      const seen = applied;
      await pause(1);
      return [node('one', seen)];
    });
    const early = confirmations.wait(0, 60_000);
    applied = 1;
    const waiting = Array.from({ length: 1000 }, () => confirmations.wait(1, 60_000));
    expect(await early).toEqual({ appliedNodes: 1, pendingNodes: [] });
    for (const acks of await Promise.all(waiting)) expect(acks.appliedNodes).toBe(1);
    expect(reads).toBeLessThan(5);
  });

  it('repeats a failed read', async () => {
    let failures = 2;
    const confirmations = new Confirmations(async () => {
      failures -= 1;
      if (failures >= 0) throw new Error('The database is away.');
      return [node('one', 7)];
    });
    expect(await confirmations.wait(7, 60_000)).toEqual({ appliedNodes: 1, pendingNodes: [] });
  });

  it('ends its waits when it is stopped', async () => {
    const confirmations = new Confirmations(async () => [node('one', 6)]);
    const waiting = confirmations.wait(7, 60_000);
    await pause(5);
    confirmations.stop();
    expect(await waiting).toEqual({ appliedNodes: 0, pendingNodes: ['one'] });
  });
});

describe('servingNodes', () => {
  let money: Money;
  beforeAll(async () => {
    money = await openMoney();
  });
  afterAll(() => money.close());
  beforeEach(async () => {
    await query(money.em(), sql`update data_plane_node set draining = true, stream_seen_at = null`);
  });

  const publicKey = exportPublicKey(generateKeyPairSync('x25519').publicKey);

  async function registered(name: string, maxConfigAgeMs?: number): Promise<string> {
    const { node: made } = await createNode(money.em(), name);
    const registration = { version: '1', region: null, publicKey, journalId: `jnl_${name}`, maxConfigAgeMs };
    await registerNode(money.em(), made.id, registration);
    return made.id;
  }

  /** A node that has applied revision 3 on a stream. */
  async function connected(name: string, maxConfigAgeMs?: number): Promise<string> {
    const id = await registered(name, maxConfigAgeMs);
    await markStreams(money.em(), [{ nodeId: id, streamId: `stream of ${name}` }]);
    await acknowledge(money.em(), id, { revision: 3, checksum: 'x', error: null });
    return id;
  }

  async function disconnect(id: string, name: string): Promise<void> {
    await endStream(money.em(), `stream of ${name}`);
    await query(
      money.em(),
      sql`update data_plane_node set last_seen_at = last_seen_at - interval '1 minute' where id = ${id}`,
    );
  }

  /** Advances the uptime clock. */
  async function later(ms: number): Promise<void> {
    await query(money.em(), sql`update control_watch set ms = ms + ${ms}`);
  }

  it('include a connected node with its revision', async () => {
    const id = await connected('connected');
    expect(await servingNodes(money.em())).toEqual([
      { id, nodeId: id, appliedRevision: 3, isReachable: true },
    ]);
  });

  it('exclude nodes that never had a configuration', async () => {
    await createNode(money.em(), 'created');
    await registered('registered');
    expect(await servingNodes(money.em())).toEqual([]);
  });

  it('include a silent node as unreachable until its configuration is too old', async () => {
    const id = await connected('silent', HOUR_MS);
    await disconnect(id, 'silent');
    await later(HOUR_MS);
    expect(await servingNodes(money.em())).toEqual([
      { id, nodeId: id, appliedRevision: 3, isReachable: false },
    ]);
    await later(60_001);
    expect(await servingNodes(money.em())).toEqual([]);
  });

  it('include a silent node of an earlier release for 24 hours', async () => {
    const id = await connected('earlier');
    await disconnect(id, 'earlier');
    await later(24 * HOUR_MS);
    expect(await servingNodes(money.em())).toHaveLength(1);
    await later(60_001);
    expect(await servingNodes(money.em())).toEqual([]);
  });

  it('exclude a drained node once its stream has ended', async () => {
    const id = await connected('drained');
    await drainNode(money.em(), id);
    expect(await servingNodes(money.em())).toHaveLength(1);
    await endStream(money.em(), 'stream of drained');
    expect(await servingNodes(money.em())).toEqual([]);
  });

  it('count acknowledgements with errors as not applied', async () => {
    const id = await connected('refusing');
    await acknowledge(money.em(), id, { revision: 4, checksum: 'x', error: 'no such thing' });
    expect(await servingNodes(money.em())).toEqual([
      { id, nodeId: id, appliedRevision: 3, isReachable: true },
    ]);
  });
});
