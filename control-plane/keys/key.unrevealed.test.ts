/** Tests the job that revokes unrevealed keys, over the real API and database. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { revokeUnrevealed } from './key.unrevealed.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;
const MINUTE_MS = 60_000;

let test: TestApp;
let ann: Browser;
beforeAll(async () => {
  test = await startTestApp();
  ann = await test.user('ann@example.com');
});
afterAll(() => test.close());

const em = () => test.orm.em.fork();
const make = async (name: string): Promise<string> => {
  const answer = await ann.send(
    `mutation ($input: ApiKeyCreateInput!) { apiKeyCreate(input: $input) { apiKey { id }
      userErrors { code } } }`,
    { input: { name, idempotencyKey: name } },
  );
  return pick<string>(answer, 'apiKeyCreate', 'apiKey', 'id');
};
const reveal = (id: string) =>
  ann.send(
    'mutation ($input: IdInput!) { apiKeyReveal(input: $input) { secret userErrors { code message } } }',
    { input: { id } },
  );
const seen = async (id: string): Promise<object> =>
  pick<object>(
    await ann.send(
      'query ($id: ID!) { node(id: $id) { ... on ApiKey { state disabledReason revealedAt } } }',
      { id },
    ),
    'node',
  );
const auditEntries = (id: string) =>
  query(em(), sql`select actor_kind, action, reason from audit_event where target_id = ${id}`);
const msFromNow = (ms: number): Date => new Date(Date.now() + ms);

describe('an unrevealed key', () => {
  it('is revoked by the system after seven days, with an audit entry', async () => {
    const id = await make('forgotten');
    expect(await revokeUnrevealed(em(), msFromNow(WEEK_MS - MINUTE_MS))).toBe(0);
    expect(await seen(id)).toMatchObject({ disabledReason: 'NOT_REVEALED' });
    expect(await revokeUnrevealed(em(), msFromNow(WEEK_MS + MINUTE_MS))).toBe(1);
    expect(await seen(id)).toEqual({ state: 'DISABLED', disabledReason: 'REVOKED', revealedAt: null });
    expect(await auditEntries(id)).toEqual([
      { actor_kind: 'SYSTEM', action: 'key.revoke', reason: 'Not revealed within 7 days.' },
    ]);
    expect(codesOf(await reveal(id), 'apiKeyReveal')).toEqual(['CONFLICT']);
    expect(await revokeUnrevealed(em(), msFromNow(WEEK_MS + DAY_MS))).toBe(0);
  });

  it('is revoked without a configuration change for nodes, which never had it', async () => {
    const id = await make('unknown');
    const revision = () => queryOne(em(), sql`select revision from config_head`);
    const before = await revision();
    expect(await revokeUnrevealed(em(), msFromNow(WEEK_MS + MINUTE_MS))).toBe(1);
    expect(await revision()).toEqual(before);
    expect(await query(em(), sql`select from config_log where key = ${id}`)).toEqual([]);
  });

  it('is revoked once when several control planes run the job at the same moment', async () => {
    const ids = await Promise.all(Array.from({ length: 6 }, (_, at) => make(`shared ${at}`)));
    const now = msFromNow(WEEK_MS + MINUTE_MS);
    const revoked = await Promise.all([1, 2, 3].map(() => revokeUnrevealed(em(), now)));
    expect(revoked.reduce((sum, count) => sum + count, 0)).toBe(ids.length);
    for (const id of ids) expect(await auditEntries(id)).toHaveLength(1);
  });

  it('is either revealed or revoked when both happen at the same moment', async () => {
    const id = await make('contested');
    const [answer, revoked] = await Promise.all([
      reveal(id),
      revokeUnrevealed(em(), msFromNow(WEEK_MS + MINUTE_MS)),
    ]);
    const secret = pick<string | null>(answer, 'apiKeyReveal', 'secret');
    expect(revoked).toBe(secret === null ? 1 : 0);
    expect(await seen(id)).toMatchObject({ state: secret === null ? 'DISABLED' : 'ENABLED' });
  });
});

describe('a revealed key', () => {
  it('is not revoked, also while a rotation waits for its reveal', async () => {
    const plain = await make('plain');
    const rotated = await make('rotated');
    for (const id of [plain, rotated]) await reveal(id);
    const input = { id: rotated, graceSeconds: 60, idempotencyKey: 'rotation' };
    const opened = await ann.send(
      'mutation ($input: ApiKeyRotateInput!) { apiKeyRotate(input: $input) { userErrors { code } } }',
      { input },
    );
    expect(codesOf(opened, 'apiKeyRotate')).toEqual([]);
    expect(await revokeUnrevealed(em(), msFromNow(WEEK_MS * 10))).toBe(0);
    for (const id of [plain, rotated]) expect(await seen(id)).toMatchObject({ state: 'ENABLED' });
  });
});
