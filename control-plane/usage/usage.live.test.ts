/** Tests of the subscription to new requests: who gets which, and how the filter applies. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { follow, socketClient } from '../../test/control/subscribe.ts';
import { reported } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { publish } from '../database/events.ts';
import { newId } from '../database/ids.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { settle } from './settlement.service.ts';

const PATIENCE = { timeout: 20_000, interval: 50 };
/** Models of the first published request (repeated until it is received) and of the last one. */
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
  const publishRequest = ({ id, requests }: Person, model: string) =>
    publish(em(), 'usageAdded', { audience: id, id: requests[model] ?? '' });

  async function createPerson(email: string): Promise<Person> {
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
    [ann, bob] = [await createPerson('ann@example.com'), await createPerson('bob@example.com')];
  });
  afterAll(() => test.close());

  /**
   * Publishes requests of two models of both users, and returns the ids that the browser receives. Requests
   * of `own` mark the start and the end.
   */
  async function receivedBy(browser: Browser, own: Person, filter: object | null): Promise<unknown[]> {
    const { received, client } = await follow(socketClient(test, browser), LIVE, { filter });
    await vi.waitFor(async () => {
      await publishRequest(own, BEGIN);
      expect(received.length).toBeGreaterThan(0);
    }, PATIENCE);
    for (const person of [ann, bob])
      for (const model of ['coder', 'swift']) await publishRequest(person, model);
    await publishRequest(own, END);
    await vi.waitFor(() => {
      expect(received).toContainEqual({ requestId: own.requests[END] });
    }, PATIENCE);
    await client.dispose();
    const marks = new Set([own.requests[BEGIN], own.requests[END]]);
    return (received as { requestId: string }[])
      .map(({ requestId }) => requestId)
      .filter((requestId) => !marks.has(requestId));
  }

  it('are all sent to their owner without a filter, and to nobody else', async () => {
    const { swift, coder } = ann.requests;
    expect(await receivedBy(ann.browser, ann, null)).toEqual([coder, swift]);
  });

  it('are sent only if they match the filter', async () => {
    const filter = { modelNames: ['swift', BEGIN, END], statuses: ['SUCCEEDED'] };
    expect(await receivedBy(ann.browser, ann, filter)).toEqual([ann.requests['swift']]);
  });

  it('are sent to administrators for every user; a userId from other callers is ignored', async () => {
    const filter = { userId: ann.id };
    const both = ({ requests: { swift, coder } }: Person) => [coder, swift];
    expect(await receivedBy(await test.admin(), ann, filter)).toEqual(both(ann));
    expect(await receivedBy(bob.browser, bob, filter)).toEqual(both(bob));
  });
});
