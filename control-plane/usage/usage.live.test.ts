import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { follow, socketClient } from '../../test/control/follow.ts';
import { reported } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../context.ts';
import { publish } from '../events.ts';
import { newId } from '../ids.ts';
import { query, queryOne, sql } from '../sql.ts';
import { settle } from './settlement.service.ts';

const PATIENCE = { timeout: 20_000, interval: 50 };
/** The models of what is told at first, until it is heard, and at last. */
const [BEGIN, END] = ['budget', 'reasoner'];
const LIVE = `subscription ($filter: UsageFilter) { usageAdded(filter: $filter) { requestId } }`;

interface Person {
  browser: Browser;
  id: string;
  /** Request ids by model. */
  requests: Record<string, string>;
}

describe('new requests', () => {
  let test: TestApp;
  let nodeId: string;
  let ann: Person;
  let bob: Person;

  const em = () => test.orm.em.fork();
  const tell = ({ id, requests }: Person, model: string) =>
    publish(em(), 'usageAdded', { audience: id, id: requests[model] ?? '' });

  async function person(email: string): Promise<Person> {
    const browser = await test.user(email);
    const id = pick<string>(await browser.send('{ viewer { id wallet { id } } }'), 'viewer', 'id');
    const wallet = await queryOne<{ id: string }>(em(), sql`select id from wallet where user_id = ${id}`);
    const free = { walletId: wallet?.id ?? '', journalId: null, leaseId: null, seq: null, cost: 0n };
    const records = ['swift', 'coder', BEGIN, END].map((modelName) => reported({ ...free, modelName }));
    await settle(em(), { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
    const requests = records.map(({ modelName, requestId }) => [modelName, requestId]);
    return { browser, id, requests: Object.fromEntries(requests) as Person['requests'] };
  }

  beforeAll(async () => {
    test = await startTestApp();
    nodeId = newId('nod');
    await query(
      em(),
      sql`insert into data_plane_node (id, name, token_digest) values (${nodeId}, ${nodeId}, ${nodeId})`,
    );
    [ann, bob] = [await person('ann@example.com'), await person('bob@example.com')];
  });
  afterAll(() => test.close());

  /** Which requests a browser hears of one of each model of both; those of `own` frame them. */
  async function heardBy(browser: Browser, own: Person, filter: object | null): Promise<unknown[]> {
    const { heard, client } = await follow(socketClient(test, browser), LIVE, { filter });
    await vi.waitFor(async () => {
      await tell(own, BEGIN);
      expect(heard.length).toBeGreaterThan(0);
    }, PATIENCE);
    for (const whose of [ann, bob]) for (const model of ['coder', 'swift']) await tell(whose, model);
    await tell(own, END);
    await vi.waitFor(() => {
      expect(heard).toContainEqual({ requestId: own.requests[END] });
    }, PATIENCE);
    await client.dispose();
    const frame = new Set([own.requests[BEGIN], own.requests[END]]);
    return (heard as { requestId: string }[])
      .map(({ requestId }) => requestId)
      .filter((requestId) => !frame.has(requestId));
  }

  it('are all told to their owner without a filter, and to nobody else', async () => {
    const { swift, coder } = ann.requests;
    expect(await heardBy(ann.browser, ann, null)).toEqual([coder, swift]);
  });

  it('are told alone that meet the filter, as the list decides it', async () => {
    const filter = { modelNames: ['swift', BEGIN, END], statuses: ['SUCCEEDED'] };
    expect(await heardBy(ann.browser, ann, filter)).toEqual([ann.requests['swift']]);
  });

  it('of a user are told to an administrator who names them; others who do hear their own', async () => {
    const filter = { userId: ann.id };
    const both = ({ requests: { swift, coder } }: Person) => [coder, swift];
    expect(await heardBy(await test.admin(), ann, filter)).toEqual(both(ann));
    expect(await heardBy(bob.browser, bob, filter)).toEqual(both(bob));
  });
});
