/** The subscription to changes of models: who gets which. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { follow, socketClient } from '../../test/control/subscribe.ts';
import type { Followed } from '../../test/control/subscribe.ts';

const PATIENCE = { timeout: 20_000, interval: 50 };
const LIVE = 'subscription { catalogUpdated { name state } }';
const UPSERT = `mutation ($input: AdminModelInput!) { adminModelUpsert(input: $input) {
  model { id version } userErrors { code } } }`;
const SET_STATE = `mutation ($input: AdminModelStateInput!) { adminModelSetState(input: $input) {
  userErrors { code } } }`;
const MODEL = {
  displayName: 'Newcomer',
  description: 'New.',
  tier: 'BALANCED',
  traits: [],
  contextTokens: 1000,
  pricePerRequest: '0.1',
  groups: ['DEFAULT'],
  families: ['CHAT_COMPLETIONS'],
  reason: 'for a test',
};

let test: TestApp;
let admin: Browser;
let user: Browser;
const followers: Followed[] = [];
beforeAll(async () => {
  test = await startTestApp();
  admin = await test.admin();
  user = await test.user('user@example.com');
});
afterAll(async () => {
  for (const { client } of followers) await client.dispose();
  await test.close();
});

const make = async (name: string): Promise<string> =>
  pick(await admin.send(UPSERT, { input: { ...MODEL, name } }), 'adminModelUpsert', 'model', 'id');
const setState = (id: string, state: string) =>
  admin.send(SET_STATE, { input: { id, state, reason: 'for a test' } });

/** Follows the catalog, and publishes models until the first event arrives. */
async function followCatalog(browser: Browser): Promise<unknown[]> {
  const followed = await follow(socketClient(test, browser), LIVE);
  followers.push(followed);
  let made = 0;
  await vi.waitFor(async () => {
    made += 1;
    await setState(await make(`first-${followers.length}-${made}`), 'PUBLISHED');
    expect(followed.received.length).toBeGreaterThan(0);
  }, PATIENCE);
  return followed.received;
}

const ofNewcomer = (received: unknown[]) =>
  received.filter((event) => !JSON.stringify(event).includes('first-'));

async function arrived(lists: unknown[][], event: object): Promise<void> {
  for (const received of lists) await vi.waitFor(() => expect(received.at(-1)).toEqual(event), PATIENCE);
}

describe('catalogUpdated', () => {
  it('sends drafts and retired models only to administrators, and no error to others', async () => {
    const strangers = await followCatalog(test.browser());
    const users = await followCatalog(user);
    const admins = await followCatalog(admin);
    const steps = async (name: string, ...states: string[]): Promise<void> => {
      const id = await make(name);
      // An event carries only the id, so each change waits until the last event was read.
      await arrived([admins], { name, state: 'DRAFT' });
      for (const state of states) {
        await setState(id, state);
        await arrived(state === 'PUBLISHED' ? [strangers, users, admins] : [admins], { name, state });
      }
    };
    await steps('newcomer', 'PUBLISHED', 'RETIRED');
    await steps('last', 'PUBLISHED');
    const published = [
      { name: 'newcomer', state: 'PUBLISHED' },
      { name: 'last', state: 'PUBLISHED' },
    ];
    expect(ofNewcomer(strangers)).toEqual(published);
    expect(ofNewcomer(users)).toEqual(published);
    expect(ofNewcomer(admins)).toEqual([
      { name: 'newcomer', state: 'DRAFT' },
      { name: 'newcomer', state: 'PUBLISHED' },
      { name: 'newcomer', state: 'RETIRED' },
      { name: 'last', state: 'DRAFT' },
      { name: 'last', state: 'PUBLISHED' },
    ]);
  });
});
