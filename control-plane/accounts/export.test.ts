/** Tests the export of personal data and the closing of accounts. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { adjust } from '../wallet/wallet.service.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { contentKeysOf } from '../intelligence/open-keys.ts';
import { query, sql } from '../database/sql.ts';
import { UserSchema } from './account.entity.ts';
import type { UserRow } from './account.entity.ts';
import { writeExport } from './export.service.ts';

const ERRORS = 'userErrors { code message }';
const EXPORT = `mutation { personalDataExport { export { downloadUrl expiresAt } ${ERRORS} } }`;
const PASSWORD = 'a long enough password';
const KEY = `mutation ($input: ApiKeyCreateInput!) { apiKeyCreate(input: $input) {
    apiKey { id } ${ERRORS} } }`;
const REVEAL = `mutation ($input: IdInput!) { apiKeyReveal(input: $input) { secret ${ERRORS} } }`;
const TOKEN = `mutation { accessTokenCreate(input: { name: "script", scopes: [KEYS_READ] }) {
    secret ${ERRORS} } }`;
const ITEM = `mutation { derivedItemCreate(input: { kind: WORKING_ON, text: "A boat" }) { ${ERRORS} } }`;
const SWITCH = `mutation { personalSwitchSet(input: { kind: WORKING_ON, enabled: true }) { ${ERRORS} } }`;

type File = Record<string, Record<string, unknown>[]>;

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());
beforeEach(() => query(em(), sql`delete from attempt_window`));

const em = () => test.orm.em.fork();
const userOf = (email: string): Promise<UserRow> => em().findOneOrFail(UserSchema, { email });

async function pathOf(browser: Browser): Promise<string> {
  const url = pick<string>(await browser.send(EXPORT), 'personalDataExport', 'export', 'downloadUrl');
  return new URL(url).pathname;
}

/** Creates a user with data in every chapter. `secrets` must not appear in the file. */
async function fill(email: string): Promise<{ browser: Browser; secrets: string[] }> {
  const browser = await test.user(email);
  const { id } = await userOf(email);
  const made = await browser.send(KEY, { input: { name: 'Laptop', idempotencyKey: email } });
  const revealed = await browser.send(REVEAL, { input: { id: pick(made, 'apiKeyCreate', 'apiKey', 'id') } });
  const token = await browser.send(TOKEN);
  await browser.send('mutation { totpEnrol { secret userErrors { code } } }');
  await adjust(em(), {
    userId: id,
    bucket: 'GIFT',
    amount: 2_500_000n,
    reason: 'A present.',
    idempotencyKey: email,
    actor: SYSTEM_ACTOR,
  });
  await browser.send(SWITCH);
  await browser.send(ITEM);
  await addChat(id);
  await addPool(id);
  const secrets = [
    pick<string>(revealed, 'apiKeyReveal', 'secret'),
    pick<string>(token, 'accessTokenCreate', 'secret'),
  ];
  return { browser, secrets: [...secrets, PASSWORD, browser.cookie?.split('=')[1] ?? ''] };
}

async function addChat(userId: string): Promise<void> {
  const chat = newId('con');
  await query(
    em(),
    sql`insert into conversation (id, user_id, title, model_name, created_at, updated_at)
    values (${chat}, ${userId}, 'About cats', 'swift', now(), now())`,
  );
  for (let at = 0; at < 25; at += 1)
    await query(
      em(),
      sql`insert into conversation_message (id, conversation_id, role, content, state, created_at)
      values (${newId('msg')}, ${chat}, 'USER', ${`Question ${at}`}, 'COMPLETE', now())`,
    );
}

async function addUsage(userId: string, count: number): Promise<void> {
  await query(
    em(),
    sql`insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source,
      model_name, family, base_price, ratio, cost, status, outcome, http_status, streamed,
      latency_ms, losses_in_answer)
    select ${userId} || n, ${userId} || n, now() - n / 3 * interval '1 second', 'nod_x', 'key_x',
      (select id from wallet where user_id = ${userId}), 'default', 'API_KEY', 'swift', 'chat_completions',
      100000, '1', 100000, 'SUCCEEDED', 'DELIVERED', 200, false, 1, 0
    from generate_series(1, ${count}) as n`,
  );
}

async function addPool(userId: string): Promise<void> {
  const pool = newId('pool');
  const quote = newId('quo');
  await query(
    em(),
    sql`insert into pools (id, owner_id, wallet_id, name, subdomain, rpm_cap, auto_renew, starts_at, ends_at)
    select ${pool}, user_id, id, 'Team', ${`team-${userId.slice(-8).toLowerCase()}`}, 60, true, now(), now()
    from wallet where user_id = ${userId}`,
  );
  await query(
    em(),
    sql`insert into pool_quotes (id, user_id, model_ids, lines, total, gift_credit, rpm_cap, period_days,
      starts_at, ends_at, expires_at)
    values (${quote}, ${userId}, '{}', '[]', 99000000, 0, 60, 30, now(), now(), now())`,
  );
  await query(
    em(),
    sql`insert into pool_periods (id, pool_id, number, quote_id, starts_at, ends_at, paid, gift_granted)
    values (${newId('per')}, ${pool}, 1, ${quote}, now(), now(), 99000000, 10000000)`,
  );
}

describe('an export of personal data', () => {
  it('contains every stored row of its owner once, and no secret', async () => {
    const { browser, secrets } = await fill('ann@example.com');
    const { id } = await userOf('ann@example.com');
    await addUsage(id, 1203);
    const response = await browser.visit(await pathOf(browser));
    expect(response.headers.get('content-disposition')).toMatch(
      /^attachment; filename="personal-data-.*json"$/,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
    const text = await response.text();
    const file = JSON.parse(text) as File;
    expect(file['profile']).toMatchObject([{ id, email: 'ann@example.com', hasPassword: true }]);
    expect(file['policyAcceptances']).toMatchObject([{ version: '1.0', ip: '127.0.0.1' }]);
    expect(file['apiKeys']).toMatchObject([{ name: 'Laptop', state: 'ENABLED' }]);
    expect(file['pools']).toMatchObject([{ name: 'Team', periods: [{ paid: 99_000_000 }] }]);
    expect(file['accessTokens']).toMatchObject([{ name: 'script' }]);
    expect(file['walletEntries']).toMatchObject([{ bucket: 'GIFT', amount: 2_500_000 }]);
    expect(file['personalIntelligenceSwitches']).toMatchObject([{ kind: 'WORKING_ON', enabled: true }]);
    expect(file['personalIntelligenceItems']).toMatchObject([{ kind: 'WORKING_ON', text: 'A boat' }]);
    expect(file['conversations']).toMatchObject([{ title: 'About cats' }]);
    expect(file['messages']?.map(({ content }) => content)).toEqual(
      Array.from({ length: 25 }, (_, at) => `Question ${at}`),
    );
    expect(new Set(file['usage']?.map(({ requestId }) => requestId)).size).toBe(1203);
    expect(file['usage']).toHaveLength(1203);
    expect(file['cutAtTheLimit']).toEqual([]);
    expect(secrets).toHaveLength(4);
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(text).not.toMatch(/argon2|digest|sealed|gws_|gqt_\w{20}|sk-\w{20}/i);
  });

  it('contains no data of other users', async () => {
    await fill('bob@example.com');
    const { id } = await userOf('bob@example.com');
    const other = await test.user('cem@example.com');
    const { id: otherId } = await userOf('cem@example.com');
    const text = await (await other.visit(await pathOf(other))).text();
    expect(text).toContain(otherId);
    expect(text).not.toMatch(new RegExp(`${id}|bob@|About cats|A boat|Laptop|Team`));
  });

  it('can be downloaded once, by its owner, until it expires', async () => {
    const owner = await test.user('dan@example.com');
    const stranger = await test.user('eve@example.com');
    const path = await pathOf(owner);
    expect((await stranger.visit(path)).status).toBe(404);
    expect((await test.browser().visit(path)).status).toBe(404);
    const both = await Promise.all([owner.visit(path), owner.visit(path)]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 404]));
    const late = await pathOf(owner);
    await query(em(), sql`update data_export set expires_at = now()`);
    expect((await owner.visit(late)).status).toBe(404);
  });

  it('is limited to five in 15 minutes, and each is written to the audit log', async () => {
    const owner = await test.user('fay@example.com');
    const { id } = await userOf('fay@example.com');
    const answers = [];
    for (let at = 0; at < 6; at += 1) answers.push(await owner.send(EXPORT));
    expect(answers.map(({ errors }) => errors[0]?.extensions.code)).toEqual([
      ...Array.from({ length: 5 }),
      'RATE_LIMITED',
    ]);
    const events = await query(
      em(),
      sql`select id from audit_event where action = 'user.export' and target_id = ${id}`,
    );
    expect(events).toHaveLength(5);
  });

  it('is read and written page by page', async () => {
    await test.user('gus@example.com');
    const { id } = await userOf('gus@example.com');
    await addUsage(id, 2000);
    let sessions = 0;
    const fork = () => {
      sessions += 1;
      return em();
    };
    let largest = 0;
    for await (const piece of writeExport({ em: fork, keys: contentKeysOf(test) }, id))
      largest = Math.max(largest, piece.length);
    expect(largest).toBeLessThan(2000);
    expect(sessions).toBeGreaterThan(2000 / 500);
  });
});

describe('closing an account', () => {
  it('deletes all personal data except usage log and ledger', async () => {
    const { browser } = await fill('hal@example.com');
    const { id } = await userOf('hal@example.com');
    await addUsage(id, 3);
    await query(
      em(),
      sql`insert into passkey (id, user_id, credential_id, public_key, counter, transports, name)
      values (${newId('psk')}, ${id}, 'c', 'k', 0, '{}', 'n')`,
    );
    await query(
      em(),
      sql`insert into linked_identity (id, user_id, issuer, subject)
      values (${newId('idn')}, ${id}, 'i', 's')`,
    );
    await browser.send(EXPORT);
    const closed = await browser.send(
      `mutation { accountDelete(input: { password: "${PASSWORD}" }) { ok ${ERRORS} } }`,
    );
    expect(codesOf(closed, 'accountDelete')).toEqual([]);
    const left = await query<{ name: string }>(
      em(),
      sql`select 'session' as name from session where user_id = ${id} union all
        select 'passkey' from passkey where user_id = ${id} union all
        select 'identity' from linked_identity where user_id = ${id} union all
        select 'totp' from totp_factor where user_id = ${id} union all
        select 'link' from account_link where user_id = ${id} union all
        select 'place' from sign_in_place where user_id = ${id} union all
        select 'export' from data_export where user_id = ${id} union all
        select 'switch' from personal_switch where user_id = ${id} union all
        select 'chat' from conversation where user_id = ${id} union all
        select 'live token' from access_token where user_id = ${id} and revoked_at is null union all
        select 'renewal' from pools where owner_id = ${id} and auto_renew union all
        select 'address' from users where id = ${id} and (email like '%hal@%' or password_hash is not null)`,
    );
    expect(left).toEqual([]);
    const [kept] = await query(
      em(),
      sql`select (select count(*)::integer from usage_entry u join wallet w on w.id = u.wallet_id
          where w.user_id = ${id}) as usage,
        (select count(*)::integer from ledger_entry e join wallet w on w.id = e.wallet_id
          where w.user_id = ${id}) as entries`,
    );
    expect(kept).toEqual({ usage: 3, entries: 1 });
  });
});
