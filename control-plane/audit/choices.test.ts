/** Administrators choose the filters of the audit log from what the log contains. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import type { Actor } from '../graphql/context.ts';
import { inTransaction } from '../database/sql.ts';
import { audit } from './audit.service.ts';

let test: TestApp;
let admin: Browser;
beforeAll(async () => {
  test = await startTestApp();
  admin = await test.admin();
});
afterAll(() => test.close());

const USER: Actor = { ...SYSTEM_ACTOR, kind: 'USER', id: 'usr_1', label: 'Mara@Example.com' };
const NODE: Actor = { ...SYSTEM_ACTOR, kind: 'NODE', id: 'nod_1', label: 'eu-1' };

const act = (actor: Actor, action: string): Promise<void> =>
  inTransaction(test.orm.em.fork(), (em) =>
    audit(em, { actor, action, targetType: 'Test', targetId: 'target', reason: 'why' }),
  );

const LOG = `query ($filter: AuditFilter) { admin { auditLog(first: 50, filter: $filter) {
  nodes { action actor { kind } } } } }`;

const actionsOf = async (filter: object): Promise<string[]> =>
  pick<{ action: string }[]>(await admin.send(LOG, { filter }), 'admin', 'auditLog', 'nodes').map(
    ({ action }) => action,
  );

it('lists each action once, and each actor once by its newest name, the newest actor first', async () => {
  await act(SYSTEM_ACTOR, 'choice.one');
  await act({ ...USER, label: 'former@example.com' }, 'choice.two');
  await act(NODE, 'choice.one');
  await act(USER, 'choice.three');
  const answer = await admin.send('{ admin { auditActions auditActors { kind id label } } }');
  const actions = pick<string[]>(answer, 'admin', 'auditActions');
  expect(actions.filter((action) => action.startsWith('choice.'))).toEqual([
    'choice.one',
    'choice.three',
    'choice.two',
  ]);
  expect(actions).toEqual([...new Set(actions)].toSorted());
  expect(pick(answer, 'admin', 'auditActors')).toEqual([
    { kind: 'USER', id: 'usr_1', label: 'Mara@Example.com' },
    { kind: 'NODE', id: 'nod_1', label: 'eu-1' },
    { kind: 'SYSTEM', id: null, label: 'system' },
  ]);
});

it('finds actors by a part of their name in any case', async () => {
  const search = (text: string) =>
    admin.send('query ($text: String) { admin { auditActors(search: $text) { label } } }', { text });
  expect(pick(await search(' mara@ex'), 'admin', 'auditActors')).toEqual([{ label: 'Mara@Example.com' }]);
  expect(pick(await search('former'), 'admin', 'auditActors')).toEqual([]);
  expect(pick(await search('100%'), 'admin', 'auditActors')).toEqual([]);
});

it('filters events by the kind of the actor, for actors without an id', async () => {
  expect(await actionsOf({ actorKinds: ['SYSTEM'], actions: ['choice.one', 'choice.two'] })).toEqual([
    'choice.one',
  ]);
  expect(await actionsOf({ actorId: 'usr_1' })).toEqual(['choice.three', 'choice.two']);
  expect(await actionsOf({ actorId: 'usr_1', actorKinds: ['NODE'] })).toEqual([]);
});
