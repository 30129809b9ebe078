/** The subscription to new audit events, with filters. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { follow, socketClient } from '../../test/control/subscribe.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { inTransaction } from '../database/sql.ts';
import { audit } from './audit.service.ts';

const PATIENCE = { timeout: 20_000, interval: 50 };
const LIVE = 'subscription ($filter: AuditFilter) { adminAuditAdded(filter: $filter) { action reason } }';

let test: TestApp;
let admin: Browser;
beforeAll(async () => {
  test = await startTestApp();
  admin = await test.admin();
});
afterAll(() => test.close());

const act = (action: string, reason: string): Promise<void> =>
  inTransaction(test.orm.em.fork(), (em) =>
    audit(em, { actor: SYSTEM_ACTOR, action, targetType: 'Test', targetId: 'target', reason }),
  );

it.each([
  [null, ['test.one', 'test.two', 'test.three']],
  [{ actions: ['test.two', 'test.three'] }, ['test.two', 'test.three']],
  [{ actions: ['test.three'], targetId: 'target' }, ['test.three']],
])('adminAuditAdded with the filter %j sends the actions %j', async (filter, expected) => {
  const { received, client } = await follow(socketClient(test, admin), LIVE, { filter });
  await vi.waitFor(async () => {
    await act(expected[0] ?? '', 'Before.');
    expect(received.length).toBeGreaterThan(0);
  }, PATIENCE);
  for (const action of ['test.one', 'test.two', 'test.three']) await act(action, 'Now.');
  await vi.waitFor(() => {
    expect(received.at(-1)).toEqual({ action: 'test.three', reason: 'Now.' });
  }, PATIENCE);
  expect(received.filter((event) => JSON.stringify(event).includes('Now.'))).toEqual(
    expected.map((action) => ({ action, reason: 'Now.' })),
  );
  await client.dispose();
});
