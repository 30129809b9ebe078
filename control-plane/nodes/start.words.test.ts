/** What a process hears that may not be a node, what is asked of its own words, and who hears of it. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { exportPublicKey } from '@gateway/shared/sealing';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { Listener } from '../listener.ts';
import { query, sql } from '../sql.ts';
import { heartbeat, touchJournal } from './contact.service.ts';
import { judgeStart } from './start.rules.ts';
import { registerNode } from './start.service.ts';
import type { Registration } from './start.service.ts';

const publicKey = exportPublicKey(generateKeyPairSync('x25519').publicKey);

let money: Money;
let listener: Listener;
const heard: string[] = [];
beforeAll(async () => {
  money = await openMoney();
  listener = await Listener.start({
    databaseUrl: money.url,
    channels: ['gateway_events'],
    onNotice: (_, payload) => void heard.push(payload),
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

/** What is said, with which code and of which field. */
const said = (code: string, field: string | null, words: string) => ({
  ...{ code, field: field && ['input', field], message: expect.stringContaining(words) },
});

it('says whose a journal is, that a later process has it, or that another one serves', async () => {
  const [one, other] = [await money.node(), await money.node()];
  const refused = (words: string) => said('CONFLICT', 'journalId', words);
  await expect(register(one.nodeId, registration(other.journalId))).rejects.toMatchObject(
    refused('belongs to another node'),
  );
  await register(one.nodeId, registration(one.journalId, 2));
  await expect(register(one.nodeId, registration(one.journalId, 1))).rejects.toMatchObject(
    refused('has gone on with this journal'),
  );
  await expect(register(one.nodeId, registration(`${one.journalId} b`))).rejects.toMatchObject(
    refused('in the last 20 seconds'),
  );
});

it('takes a key that configuration can be sealed for, and says which that is', async () => {
  const { nodeId, journalId } = await money.node();
  const signing = exportPublicKey(generateKeyPairSync('ed25519').publicKey);
  for (const key of ['', 'AAAA', signing])
    await expect(register(nodeId, { ...registration(journalId), publicKey: key })).rejects.toMatchObject(
      said('INVALID', 'publicKey', 'X25519'),
    );
});

it('takes texts of 500 characters, a journal of 1, and starts from 1 on; says so of others', async () => {
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
      said('INVALID', null, 'at most 500 characters'),
    );
  await expect(register(nodeId, { ...right, process: { start: 0, instanceId: 'x' } })).rejects.toMatchObject(
    said('INVALID', 'start', 'from 1'),
  );
  const longest = { version: 'v'.repeat(500), region: 'r'.repeat(500), ...instance('i'.repeat(500)) };
  await register(nodeId, { ...right, ...longest });
  const rows = await query(
    money.em(),
    sql`select length(n.version) as version, length(n.region) as region, length(j.instance_id) as instance
      from data_plane_node n join node_journal j on j.id = n.journal_id where n.id = ${nodeId}`,
  );
  expect(rows).toEqual([{ version: 500, region: 500, instance: 500 }]);
});

it('tells the pages of administrators that a node began, once for each process', async () => {
  const { nodeId, journalId } = await money.node();
  const first = registration(journalId, 1);
  await register(nodeId, first);
  await register(nodeId, first);
  await register(nodeId, registration(journalId, 2));
  const last = await money.node();
  await register(last.nodeId, registration(last.journalId));
  const told = (id: string) =>
    heard.filter((line) => line.includes('adminNodeUpdated') && line.includes(id)).length;
  await expect.poll(() => told(last.nodeId)).toBe(1);
  expect(told(nodeId)).toBe(2);
});

it('says to a process without its journal, or without its place, what to start anew', async () => {
  const [one, other] = [await money.node(), await money.node()];
  const unknown = said('NOT_FOUND', 'journalId', 'is not known with this journal');
  await expect(touchJournal(money.em(), one.nodeId, other)).rejects.toMatchObject(unknown);
  await touchJournal(money.em(), one.nodeId, one);
  const stranger = { journalId: one.journalId, instanceId: 'another' };
  await expect(touchJournal(money.em(), one.nodeId, stranger)).rejects.toMatchObject(unknown);
  await query(money.em(), sql`update data_plane_node set journal_id = null where id = ${one.nodeId}`);
  const { journalId } = one;
  const state = { appliedRevision: 0, rps: '0', inflight: 0, eventLoopP99Ms: 0, usageBacklog: 0 };
  await expect(heartbeat(money.em(), one.nodeId, { journalId, ...state })).rejects.toMatchObject(
    said('CONFLICT', 'journalId', 'has taken the place of this one'),
  );
});

it('tells the pages of administrators of each heartbeat that counts', async () => {
  const { nodeId, journalId } = await money.node();
  const state = { appliedRevision: 0, rps: '0', inflight: 0, eventLoopP99Ms: 0, usageBacklog: 0 };
  await heartbeat(money.em(), nodeId, { journalId, ...state });
  const told = () =>
    heard.filter((line) => line.includes('adminNodeUpdated') && line.includes(nodeId)).length;
  await expect.poll(told).toBe(1);
});

it('knows a process by its journal, its start and itself, all three', () => {
  const standing = { start: 3, instanceId: 'x', nodeJournalId: 'a', isHeard: true };
  const verdict = (journalId: string, start: number, instanceId: string) =>
    judgeStart(standing, { journalId, process: { start, instanceId } });
  expect(verdict('a', 3, 'x')).toBe('KNOWN');
  expect([verdict('b', 3, 'x'), verdict('a', 2, 'x'), verdict('a', 3, 'y')]).toEqual(['OLD', 'OLD', 'OLD']);
});
