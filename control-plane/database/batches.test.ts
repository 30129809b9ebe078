/** The number of SQL statements of a GraphQL operation does not depend on the length of its lists. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { audit } from '../audit/audit.service.ts';
import { Batches } from './batches.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { inTransaction } from './sql.ts';

const KEYS = `query ($first: Int!) { viewer { apiKeys(first: $first) { nodes {
  id groupRatio lastUsedAt lastUsedIp spentThisMonth owner { id wallet { id } } allowedModels { id }
  usageSummary(range: { from: "2026-01-01T00:00:00Z", to: "2026-01-08T00:00:00Z" }, bucket: DAY) {
    totals { requests } series { at } timings { totals { duration { p50Ms } } series { at } } }
} } } }`;
const CATALOG = `query ($first: Int!) { catalog(first: $first) { nodes {
  id prices { group } deprecation { retiresAt } routes { id model { id } provider { id } } } } }`;
const USERS = `query ($first: Int!) { admin { users(first: $first) { nodes {
  id wallet { id balance } } } } }`;
const AUDIT = `query ($first: Int!) { admin { auditLog(first: $first) { nodes { target { id } } } } }`;
/** Statements that do not belong to the operation: new connections, budgets, notifications. */
const UNRELATED = /set_config|query_budget_take|pg_notify|\blisten\b/;

describe('the lookups of fields', () => {
  let test: TestApp;
  let owner: Browser;
  let admin: Browser;
  beforeAll(async () => {
    test = await startTestApp();
    [owner, admin] = await Promise.all([test.user('owner@example.com'), test.admin()]);
    const ids = pick<{ id: string }[]>(
      await owner.send('{ catalog(first: 2) { nodes { id } } }'),
      'catalog',
      'nodes',
    );
    for (let count = 0; count < 12; count += 1) {
      await owner.send(
        `mutation ($input: ApiKeyCreateInput!) { apiKeyCreate(input: $input) {
          apiKey { id } userErrors { code } } }`,
        {
          input: {
            name: `key ${count}`,
            group: 'DEFAULT',
            idempotencyKey: String(count),
            allowedModelIds: ids.map(({ id }) => id),
          },
        },
      );
      const user = await test.user(`user-${count}@example.com`);
      const targetId = pick<string>(await user.send('{ viewer { id wallet { id } } }'), 'viewer', 'id');
      await inTransaction(test.orm.em.fork(), (em) =>
        audit(em, { actor: SYSTEM_ACTOR, action: 'test', targetType: 'User', targetId, reason: 'test' }),
      );
    }
  });
  afterAll(() => test.close());

  /** Number of SQL statements of the operation. */
  async function statements(browser: Browser, source: string, first: number): Promise<number> {
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    try {
      const answer = await browser.send(source, { first });
      expect(answer.errors).toEqual([]);
      const texts = spy.mock.calls.map(([statement]) => JSON.stringify(statement));
      return texts.filter((text) => !UNRELATED.test(text)).length;
    } finally {
      spy.mockRestore();
    }
  }

  it.each([
    ['keys', KEYS, () => owner],
    ['models and their routes', CATALOG, () => admin],
    ['users and their wallets', USERS, () => admin],
    ['events and their targets', AUDIT, () => admin],
  ])('take as many statements for ten %s as for two', async (_name, source, browser) => {
    await statements(browser(), source, 2);
    const few = await statements(browser(), source, 2);
    expect(few).toBeGreaterThan(1);
    expect(await statements(browser(), source, 10)).toBe(few);
  });

  it.each([
    ['a user', '{ viewer { usageSummary(SPAN) { totals { cost } PREVIOUS } } }'],
    [
      'ten keys',
      `query ($first: Int!) { viewer { apiKeys(first: $first) { nodes {
        usageSummary(SPAN) { totals { cost } PREVIOUS } } } } }`,
    ],
  ])(
    'sum the previous range of a usage summary of %s with one statement, only if it is selected',
    async (_of, text) => {
      const span = text.replace(
        'SPAN',
        'range: { from: "2026-01-01T00:00:00Z", to: "2026-01-08T00:00:00Z" }',
      );
      const selected = span.replace('PREVIOUS', 'previousTotals { cost }');
      await statements(owner, selected, 10);
      const without = await statements(owner, span.replace('PREVIOUS', ''), 10);
      expect(await statements(owner, selected, 10)).toBe(without + 1);
    },
  );

  it('are combined within one iteration of the event loop, and made again after it', async () => {
    const lookups: string[][] = [];
    const lookup = async (_em: unknown, keys: readonly string[]) => {
      lookups.push([...keys]);
      return new Map(keys.filter((key) => key !== 'none').map((key) => [key, key.toUpperCase()]));
    };
    const batches = new Batches(test.orm.em.fork());
    const load = (key: string) => batches.load(lookup, key);
    expect(await Promise.all(['a', 'b', 'a', 'none'].map(load))).toEqual(['A', 'B', 'A', undefined]);
    await load('a');
    expect(lookups).toEqual([['a', 'b', 'none'], ['a']]);
  });
});
