/**
 * Tests over both planes of charges that the control plane cannot read or rejects: all others are settled.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findNodeByToken } from '../control-plane/nodes/node.service.ts';
import { newId } from '../control-plane/database/ids.ts';
import { SYSTEM_ACTOR } from '../control-plane/graphql/context.ts';
import { checkInvariants } from '../control-plane/wallet/invariants.ts';
import { query, sql } from '../control-plane/database/sql.ts';
import { creditCash } from '../control-plane/wallet/movements.ts';
import { ensureWallet, walletById } from '../control-plane/wallet/wallet.service.ts';
import { loadNodeKeys } from '../data-plane/config/identity.ts';
import { connectControl } from '../data-plane/control/client.ts';
import type { Control } from '../data-plane/control/client.ts';
import type { OpenLedger } from '../data-plane/ledger/ledger.ts';
import { keyOf, usageOf } from './ledger/records.ts';
import { openLedger } from '../data-plane/ledger/open-ledger.ts';
import { pick, startTestApp } from './control/app.ts';
import type { TestApp } from './control/app.ts';

const PRICE = 100_000n;
const CHARGES = 12;
/** Larger than GraphQL's Int. */
const UNREADABLE_MS = 3_000_000_000;

let house: TestApp;
const folder = mkdtempSync(join(tmpdir(), 'gateway-quarantined-'));

beforeAll(async () => {
  house = await startTestApp({ findNode: (token) => findNodeByToken(house.orm.em.fork(), token) });
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

/** A registered node with an open ledger; `errors` are the errors that it logs. */
async function node(name: string): Promise<Node> {
  const admin = await house.admin();
  const made = await admin.send(
    'mutation ($input: AdminNodeCreateInput!) { adminNodeCreate(input: $input) { token } }',
    { input: { name, reason: 'test' } },
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
  const ledger = await openLedger({ folder: join(folder, name), control, log });
  const { publicKey } = loadNodeKeys(folder);
  const { journalId, start } = ledger;
  const instanceId = `process of ${name}`;
  const self = { name, version: 'test', publicKey, journalId, start, instanceId, maxConfigAgeSeconds: 60 };
  const { id } = await control.register(self);
  ledger.connect(id);
  return { id, ledger, control, errors };
}

interface Node {
  id: string;
  ledger: OpenLedger;
  control: Control;
  errors: object[];
}

test('a node quarantines the one charge that the API cannot read, and settles the others', async () => {
  const { ledger, control, errors } = await node('node-1');
  const { journalId } = ledger;
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
  await expect.poll(() => ledger.totals.quarantined, { timeout: 20_000 }).toBe(1);
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

test('a charge that differs from its price is rejected, and the wallet gets the money back', async () => {
  const { ledger, control, errors } = await node('node-2');
  const { journalId } = ledger;
  const walletId = await wallet();
  const holds = await Promise.all(Array.from({ length: CHARGES }, () => ledger.hold(keyOf(walletId), PRICE)));
  await Promise.all(
    holds.map((hold, at) =>
      hold.commit({
        ...usageOf(`believed_${at}`, PRICE, walletId),
        ...(at === 5 && { basePrice: String(PRICE - 1n) }),
      }),
    ),
  );
  await ledger.drain(20_000);
  const em = house.orm.em.fork();
  const alarms = await query(
    em,
    sql`select kind, request_id, reason from settlement_alarm where journal_id = ${journalId}`,
  );
  const reason = 'cost 100000 is not price 99999 × ratio 1';
  expect(alarms).toEqual([{ kind: 'REJECTED', request_id: 'believed_5', reason }]);
  expect(errors).toEqual([{ requestIds: ['believed_5'] }]);
  expect(ledger.totals).toMatchObject({ quarantined: 0, leases: 0 });
  const whole = 1_000n * PRICE;
  expect(await walletById(em, walletId)).toMatchObject({
    cash: whole - BigInt(CHARGES - 1) * PRICE,
    held: 0n,
  });
  expect((await checkInvariants(em)).filter(({ subject }) => subject === journalId)).toEqual([]);
  await ledger.close();
  await control.stop();
}, 60_000);

test('a node can request leases with numbers larger than a GraphQL Int', async () => {
  const { id, ledger, control } = await node('node-3');
  const request = { nodeId: id, journalId: ledger.journalId, walletId: await wallet(), requestNo: 0 };
  const amounts = { want: '0.1', need: '0.1', waiting: '0.1' };
  const ask = async (requestNumber?: string) =>
    (await control.requestLease({ ...request, ...amounts, ...(requestNumber && { requestNumber }) })).leaseId;
  const leases = [await ask('3000000000'), await ask('3000000000'), await ask('3000000001'), await ask()];
  expect(leases.every((lease) => lease !== null)).toBe(true);
  expect(leases[1]).toBe(leases[0]);
  expect(new Set(leases).size).toBe(3);
  await ledger.close();
  await control.stop();
}, 60_000);
