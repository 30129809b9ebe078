/** Refusals and events of registration and heartbeat. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPublicKey } from '@gateway/shared/sealing';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { Listener } from '../database/listener.ts';
import { query, sql } from '../database/sql.ts';
import { heartbeat, touchJournal } from './contact.service.ts';
import { decideRegistration } from './registration.rules.ts';
import { registerNode } from './registration.service.ts';
import type { Registration } from './registration.service.ts';

const publicKey = exportPublicKey(generateKeyPairSync('x25519').publicKey);

let money: Money;
let listener: Listener;
const notifications: string[] = [];
beforeAll(async () => {
  money = await openMoney();
  listener = await Listener.start({
    databaseUrl: money.url,
    channels: ['gateway_events'],
    onNotification: (_, payload) => void notifications.push(payload),
  });
});
afterAll(async () => {
  await listener.stop();
  await money.close();
});

const registration = (journalId: string, start = 1): Registration => ({
  ...{ version: '1', region: null, publicKey, journalId },
  process: { start, instanceId: randomUUID() },
});
const register = (nodeId: string, self: Registration): Promise<void> =>
  registerNode(money.em(), nodeId, self);

/** The expected UserFailure, by code, field and a part of its message. */
const failure = (code: string, field: string | null, words: string) => ({
  ...{ code, field: field && ['input', field], message: expect.stringContaining(words) },
});

/** How many updates of the node were published. */
const updatesOf = (nodeId: string): number =>
  notifications.filter((line) => line.includes('adminNodeUpdated') && line.includes(nodeId)).length;

const VITALS = { appliedRevision: 0, rps: '0', inflight: 0, eventLoopP99Ms: 0, usageBacklog: 0 };

describe('a registration', () => {
  it('is refused for a foreign journal, an outdated start, and beside another process', async () => {
    const [one, other] = [await money.node(), await money.node()];
    const refused = (words: string) => failure('CONFLICT', 'journalId', words);
    await expect(register(one.nodeId, registration(other.journalId))).rejects.toMatchObject(
      refused('belongs to another node'),
    );
    await register(one.nodeId, registration(one.journalId, 2));
    await expect(register(one.nodeId, registration(one.journalId, 1))).rejects.toMatchObject(
      refused('uses this journal'),
    );
    await expect(register(one.nodeId, registration(`${one.journalId} b`))).rejects.toMatchObject(
      refused('in the last 20 seconds'),
    );
  });

  it('is refused with a public key that is not X25519', async () => {
    const { nodeId, journalId } = await money.node();
    const signing = exportPublicKey(generateKeyPairSync('ed25519').publicKey);
    for (const key of ['', 'AAAA', signing])
      await expect(register(nodeId, { ...registration(journalId), publicKey: key })).rejects.toMatchObject(
        failure('INVALID', 'publicKey', 'X25519'),
      );
  });

  it('accepts texts of up to 500 characters and starts from 1, and names the limit otherwise', async () => {
    const { nodeId, journalId } = await money.node();
    const right = registration(journalId);
    const long = 'x'.repeat(501);
    const instance = (instanceId: string) => ({ process: { start: 1, instanceId } });
    const wrong = [
      { version: long },
      { region: long },
      { journalId: long },
      { journalId: '' },
      instance(long),
      instance(''),
    ];
    for (const more of wrong)
      await expect(register(nodeId, { ...right, ...more })).rejects.toMatchObject(
        failure('INVALID', null, 'at most 500 characters'),
      );
    const zero = register(nodeId, { ...right, process: { start: 0, instanceId: 'x' } });
    await expect(zero).rejects.toMatchObject(failure('INVALID', 'start', 'at least 1'));
    const longest = { version: 'v'.repeat(500), region: 'r'.repeat(500), ...instance('i'.repeat(500)) };
    await register(nodeId, { ...right, ...longest });
    const rows = await query(
      money.em(),
      sql`select length(n.version) as version, length(n.region) as region, length(j.instance_id) as instance
        from data_plane_node n join node_journal j on j.id = n.journal_id where n.id = ${nodeId}`,
    );
    expect(rows).toEqual([{ version: 500, region: 500, instance: 500 }]);
  });

  it('publishes one update of the node per process', async () => {
    const { nodeId, journalId } = await money.node();
    const first = registration(journalId, 1);
    await register(nodeId, first);
    await register(nodeId, first);
    await register(nodeId, registration(journalId, 2));
    const last = await money.node();
    await register(last.nodeId, registration(last.journalId));
    await expect.poll(() => updatesOf(last.nodeId)).toBe(1);
    expect(updatesOf(nodeId)).toBe(2);
  });

  it('is a repetition only if journal, start and process id are the same', () => {
    const state = { start: 3, instanceId: 'x', nodeJournalId: 'a', isOnline: true };
    const verdict = (journalId: string, start: number, instanceId: string) =>
      decideRegistration(state, { journalId, process: { start, instanceId } });
    expect(verdict('a', 3, 'x')).toBe('REPEATED');
    const others = [verdict('b', 3, 'x'), verdict('a', 2, 'x'), verdict('a', 3, 'y')];
    expect(others).toEqual(['OUTDATED', 'OUTDATED', 'OUTDATED']);
  });
});

describe('a heartbeat', () => {
  it('is refused for an unknown journal or process, and for a process that was replaced', async () => {
    const [one, other] = [await money.node(), await money.node()];
    const unknown = failure('NOT_FOUND', 'journalId', 'is not registered with this journal');
    await expect(touchJournal(money.em(), one.nodeId, other)).rejects.toMatchObject(unknown);
    await touchJournal(money.em(), one.nodeId, one);
    const stranger = { journalId: one.journalId, instanceId: 'another' };
    await expect(touchJournal(money.em(), one.nodeId, stranger)).rejects.toMatchObject(unknown);
    await query(money.em(), sql`update data_plane_node set journal_id = null where id = ${one.nodeId}`);
    const { journalId } = one;
    await expect(heartbeat(money.em(), one.nodeId, { journalId, ...VITALS })).rejects.toMatchObject(
      failure('CONFLICT', 'journalId', 'has replaced this one'),
    );
  });

  it('publishes one update of the node', async () => {
    const { nodeId, journalId } = await money.node();
    await heartbeat(money.em(), nodeId, { journalId, ...VITALS });
    await expect.poll(() => updatesOf(nodeId)).toBe(1);
  });
});
