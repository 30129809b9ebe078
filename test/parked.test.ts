/** A charge that the control plane's API cannot read, through both planes: all others are settled. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findNodeByToken } from '../control-plane/nodes/node.service.ts';
import { newId } from '../control-plane/ids.ts';
import { SYSTEM_ACTOR } from '../control-plane/context.ts';
import { checkInvariants } from '../control-plane/wallet/invariants.ts';
import { query, sql } from '../control-plane/sql.ts';
import { creditCash } from '../control-plane/wallet/movements.ts';
import { ensureWallet } from '../control-plane/wallet/wallet.service.ts';
import { loadNodeKeys } from '../data-plane/config/identity.ts';
import { connectControl } from '../data-plane/control.ts';
import { keyOf, usageOf } from '../data-plane/ledger/model/records.ts';
import { openLedger } from '../data-plane/ledger/open-ledger.ts';
import { pick, startTestApp } from './control/app.ts';
import type { TestApp } from './control/app.ts';

const PRICE = 100_000n;
const CHARGES = 12;
/** GraphQL's Int ends before it. */
const UNREADABLE_MS = 3_000_000_000;

let house: TestApp;
const folder = mkdtempSync(join(tmpdir(), 'gateway-parked-'));

beforeAll(async () => {
  house = await startTestApp({ findNode: findNodeByToken });
});
afterAll(async () => {
  await house.close();
  rmSync(folder, { recursive: true });
});

async function wallet(): Promise<string> {
  const em = house.orm.em.fork();
  const userId = newId('usr');
  await query(
    em,
    sql`insert into users (id, email) values (${userId}, ${`${userId.toLowerCase()}@example.com`})`,
  );
  const walletId = await ensureWallet(em, userId);
  const movement = { walletId, actor: SYSTEM_ACTOR, description: 'test', kind: 'ADJUSTMENT' } as const;
  await creditCash(em, { ...movement, amount: 1_000n * PRICE, reference: `cash:${walletId}` });
  return walletId;
}

test('the API calls the report invalid; the node parks the one charge and settles the others', async () => {
  const admin = await house.admin();
  const made = await admin.send(
    'mutation ($input: AdminNodeCreateInput!) { adminNodeCreate(input: $input) { token } }',
    { input: { name: 'node-1', reason: 'test' } },
  );
  const control = connectControl({
    urls: [house.url],
    token: pick<string>(made, 'adminNodeCreate', 'token'),
  });
  const errors: object[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (fields: object) => void errors.push(fields),
  };
  const ledger = await openLedger({ folder: join(folder, 'journal'), control, log });
  const { publicKey } = loadNodeKeys(folder);
  const { journalId, start } = ledger;
  const self = { name: 'node-1', version: 'test', publicKey, journalId, start, instanceId: 'process-1' };
  const node = await control.register(self);
  ledger.connect(node.id);
  const walletId = await wallet();
  const holds = await Promise.all(Array.from({ length: CHARGES }, () => ledger.hold(keyOf(walletId), PRICE)));
  await Promise.all(
    holds.map((hold, at) =>
      hold.commit({
        ...usageOf(`request_${at}`, PRICE, walletId),
        ...(at === 5 && { latencyMs: UNREADABLE_MS }),
      }),
    ),
  );
  await expect.poll(() => ledger.tally.parked, { timeout: 20_000 }).toBe(1);
  const em = house.orm.em.fork();
  const charges = async (): Promise<number> =>
    (await query(em, sql`select from usage_charge where journal_id = ${journalId}`)).length;
  await expect.poll(charges, { timeout: 20_000 }).toBe(CHARGES - 1);
  expect(errors).toMatchObject([{ requestId: 'request_5' }]);
  const [lease] = await query<{ left: string }>(
    em,
    sql`select sum(balance)::text as left from ledger_account join wallet_lease l on l.id = lease_id
      where l.journal_id = ${journalId} and l.state = 'ACTIVE'`,
  );
  expect(BigInt(lease?.left ?? 0)).toBeGreaterThanOrEqual(PRICE);
  const found = await checkInvariants(house.orm.em.fork());
  expect(found).toMatchObject([{ rule: 'I9', subject: journalId }]);
  await ledger.close();
  await control.stop();
}, 60_000);
