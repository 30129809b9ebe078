/** Downloads of the usage log and the ledger over HTTP: content, filters, access and streaming. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDollars } from '@gateway/shared/money';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { addNode, reported } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { createOrm } from '../database/orm.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { settle } from '../usage/settlement.service.ts';
import { reclaimLease } from '../wallet/lease.end.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { creditCash, creditGift } from '../wallet/movements.ts';
import { POSTGRES_USAGE } from '../usage/usage.reader.ts';
import { downloadText } from './download.service.ts';

const PRICE = 123_457n;
const NAME = '=HYPERLINK("http://evil.example","x")';

describe('downloads', () => {
  let test: TestApp;
  let owner: Browser;
  let other: Browser;
  let ownerId: string;

  beforeAll(async () => {
    test = await startTestApp();
    [owner, other] = await Promise.all([test.user('owner@example.com'), test.user('other@example.com')]);
    ownerId = pick<string>(await owner.send('{ viewer { id wallet { id } } }'), 'viewer', 'id');
    const key = await owner.send(
      `mutation ($name: String!) { apiKeyCreate(input: { name: $name, group: DEFAULT, idempotencyKey: "k" }) {
        apiKey { id } userErrors { code } } }`,
      { name: NAME },
    );
    await spend(ownerId, pick<string>(key, 'apiKeyCreate', 'apiKey', 'id'));
    const otherId = pick<string>(await other.send('{ viewer { id wallet { id } } }'), 'viewer', 'id');
    await spend(otherId, 'key_other');
  });
  afterAll(() => test.close());

  const em = () => test.orm.em.fork();

  async function walletOf(userId: string): Promise<string> {
    const row = await queryOne<{ id: string }>(em(), sql`select id from wallet where user_id = ${userId}`);
    return row?.id ?? '';
  }

  /** Settles charges of a lease, charges after its end, and one that the wallet cannot pay. */
  async function spend(userId: string, keyId: string): Promise<void> {
    const walletId = await walletOf(userId);
    const movement = { walletId, actor: SYSTEM_ACTOR, description: 'test' };
    await creditCash(em(), {
      ...movement,
      amount: 9n * PRICE,
      kind: 'ADJUSTMENT',
      reference: `c:${walletId}`,
    });
    await creditGift(em(), {
      ...movement,
      amount: 2n * PRICE,
      kind: 'GIFT_ADMIN',
      reference: `g:${walletId}`,
    });
    const [nodeId, journalId] = [newId('nod'), `jnl_${walletId}`];
    await addNode(em(), { nodeId, journalId });
    const request = { nodeId, journalId, walletId, keyId: null, need: PRICE };
    const all = 11n * PRICE;
    const lease = await requestLease(em(), { ...request, requestNo: 1, waiting: all, want: all });
    const charge = (seq: number) =>
      reported({ journalId, leaseId: lease.id, walletId, keyId, seq, cost: PRICE, modelName: 'a,b\n"c"' });
    const node = { ...SYSTEM_ACTOR, kind: 'NODE' as const, id: nodeId };
    await settle(em(), { node, records: [1, 2, 3, 4, 5, 6, 7].map(charge) });
    await query(em(), sql`update wallet_lease set state = 'ORPHANED' where id = ${lease.id}`);
    await reclaimLease(em(), lease.id);
    await requestLease(em(), { ...request, requestNo: 2, waiting: PRICE, want: PRICE });
    await settle(em(), { node, records: [8, 9, 10, 11].map(charge) });
  }

  const get = (path: string, browser: Browser | null = owner, headers: Record<string, string> = {}) =>
    fetch(`${test.url}/export/${path}`, {
      headers: { ...headers, ...(browser?.cookie && { cookie: browser.cookie }) },
    });

  const lines = async (path: string, browser: Browser = owner): Promise<Record<string, string>[]> =>
    (await (await get(path, browser)).text())
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, string>);

  const sum = (rows: Record<string, string>[], column: string): bigint =>
    rows.reduce((total, row) => total + (parseDollars(row[column] ?? '') ?? 0n), 0n);

  it('have the same sums for usage and ledger, which equal the balance to the micro-USD', async () => {
    const usage = await lines('usage.jsonl');
    const ledger = await lines('ledger.jsonl');
    const paid = usage.filter((row) => row['settlement'] === 'LEASE' || row['settlement'] === 'WALLET');
    expect(usage).toHaveLength(11);
    expect(sum(paid, 'cost')).toBe(10n * PRICE);
    expect(
      sum(
        ledger.filter((row) => row['kind'] === 'USAGE'),
        'amount',
      ),
    ).toBe(-sum(paid, 'cost'));
    const balance = pick<string>(
      await owner.send('{ viewer { wallet { balance } } }'),
      'viewer',
      'wallet',
      'balance',
    );
    expect(sum(ledger, 'amount')).toBe(parseDollars(balance));
    const newest = ['CASH', 'GIFT'].map((bucket) => ledger.find((row) => row['bucket'] === bucket) ?? {});
    expect(sum(newest, 'balance_after')).toBe(parseDollars(balance));
  });

  it('contain the same rows as CSV, and no formula for spreadsheets', async () => {
    const answer = await get('usage.csv');
    expect(answer.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="usage.csv"');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const text = await answer.text();
    expect(text.split('\r\n')).toHaveLength(1 + 11 + 1);
    expect(text).toContain(`,"'=HYPERLINK(""http://evil.example"",""x"")",`);
    expect(text).toContain(',"a,b\n""c""",');
  });

  it('support the filters of the lists', async () => {
    const [first] = await lines('usage.jsonl');
    const of = async (query: string) => (await lines(`usage.jsonl?${query}`)).length;
    expect(await of(`request=${first?.['request_id']}`)).toBe(1);
    expect(await of('model=swift')).toBe(0);
    expect(await of(`to=${encodeURIComponent('2020-01-01T00:00:00Z')}`)).toBe(0);
    expect(await of('status=SUCCEEDED&minCost=0.1')).toBe(11);
    expect((await lines('ledger.jsonl?kind=GIFT_ADMIN')).map((row) => row['bucket'])).toEqual(['GIFT']);
    expect((await get('usage.csv?statsu=FAILED')).status).toBe(400);
  });

  it('contain rows of other users for administrators only', async () => {
    expect((await get('usage.csv', null)).status).toBe(401);
    for (const path of ['usage.csv', 'ledger.csv'])
      for (const user of ['all', ownerId])
        expect((await get(`${path}?user=${user}`, other)).status).toBe(403);
    const ids = async (browser: Browser, query = '') =>
      new Set((await lines(`usage.jsonl${query}`, browser)).map((row) => row['user_id']));
    expect(await ids(owner)).toEqual(new Set([ownerId]));
    const admin = await test.admin();
    expect((await ids(admin, '?user=all')).size).toBe(2);
    expect(await ids(admin, `?user=${ownerId}`)).toEqual(new Set([ownerId]));
    expect((await lines('ledger.jsonl?user=all&kind=USAGE', admin)).length).toBeGreaterThan(2);
  });

  it('are allowed for access tokens with the required scope only', async () => {
    const status = async (scopes: string, path: string): Promise<number> => {
      const made = await owner.send(
        `mutation { accessTokenCreate(input: { name: "t", scopes: [${scopes}], expiresInDays: 1 }) {
          secret userErrors { code message } } }`,
      );
      const secret = pick<string>(made, 'accessTokenCreate', 'secret');
      return (await get(path, null, { authorization: `Bearer ${secret}` })).status;
    };
    expect(await status('USAGE_READ', 'usage.csv')).toBe(200);
    expect(await status('USAGE_READ', 'ledger.csv')).toBe(403);
    expect(await status('WALLET_READ', 'ledger.csv')).toBe(200);
    expect(await status('KEYS_READ', 'usage.csv')).toBe(403);
  });

  it('are linked by usageExport and ledgerExport', async () => {
    const answer = await owner.send(
      `{ usageExport(format: JSONL, filter: { statuses: [FAILED] }) { downloadUrl }
        ledgerExport(format: CSV, filter: { kinds: [USAGE] }) { downloadUrl } }`,
    );
    expect(pick<string>(answer, 'usageExport', 'downloadUrl')).toBe(
      `${test.settings.consoleUrl}/export/usage.jsonl?status=FAILED`,
    );
    expect(pick<string>(answer, 'ledgerExport', 'downloadUrl')).toBe(
      `${test.settings.consoleUrl}/export/ledger.csv?kind=USAGE`,
    );
  });

  it('query a page only when it is read, and stop when the client disconnects', async () => {
    await addRows(20_000);
    let reads = 0;
    const counted = () => {
      reads += 1;
      return em();
    };
    const download = { table: 'usage', format: 'csv', userId: ownerId, range: null, kinds: null } as const;
    const source = {
      em: counted,
      usage: POSTGRES_USAGE,
      download: { ...download, usage: {} },
      userId: ownerId,
      walletId: null,
    };
    const text = downloadText(source);
    for (let chunk = 0; chunk < 3; chunk += 1) await text.next();
    expect(reads).toBe(2);
    await text.return(undefined);
    expect(await text.next()).toEqual({ done: true, value: undefined });
    expect(reads).toBe(2);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const leaving = new AbortController();
      const cookie = owner.cookie ?? '';
      const opened = await fetch(`${test.url}/export/usage.csv`, {
        headers: { cookie },
        signal: leaving.signal,
      });
      await opened.body?.getReader().read();
      leaving.abort();
    }
    // Both places are free again once the server has noticed the disconnects.
    const rows = async () => (await lines('usage.jsonl')).length;
    await expect.poll(rows, { timeout: 20_000 }).toBe(20_011);
  });

  async function addRows(count: number): Promise<void> {
    const database = await createOrm(test.settings.databaseUrl, { asOwner: true, connectionsMax: 1 });
    const walletId = await walletOf(ownerId);
    await query(
      database.em.fork(),
      sql`
      insert into usage_entry (request_id, id, at, node_id, key_id, wallet_id, billing_group, source,
        model_name, family, base_price, ratio, cost, status, outcome, http_status, streamed, latency_ms)
      select 'many_' || n, 'use_' || n, now() - n * interval '1 ms', 'nod', 'key', ${walletId}, 'default',
        'API_KEY', 'swift', 'chat_completions', 0, '1', 0, 'FAILED', 'REFUSED', 400, false, 1
      from generate_series(1, ${count}::integer) n`,
    );
    await database.close(true);
  }
});
