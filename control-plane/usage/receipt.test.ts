/** Tests of receipts, of the order of keys by use and spend, and of actors in ledger entries. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { addNode, reported } from '../../test/money-fixture.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { newId } from '../database/ids.ts';
import { queryOne, sql } from '../database/sql.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { creditCash } from '../wallet/movements.ts';
import { adjust } from '../wallet/wallet.service.ts';
import { settle } from './settlement.service.ts';
import type { ReportedUsage } from './settlement.rules.ts';

const RECEIPT = `query ($id: String!) { requestReceipt(requestId: $id) {
  explanation amount settlement transactionId place { nodeId journalId seq }
  entry { requestId modelName outcome route { id } key { name } model { name } } } }`;

describe('after settled requests', () => {
  let test: TestApp;
  let owner: Browser;
  let ownerId: string;
  let walletId: string;
  let charged: ReportedUsage;
  let refused: ReportedUsage;
  let left: Record<'paid' | 'free', ReportedUsage>;
  let keyIds: string[];

  beforeAll(async () => {
    test = await startTestApp();
    owner = await test.user('owner@example.com');
    ownerId = pick<string>(await owner.send('{ viewer { id wallet { id } } }'), 'viewer', 'id');
    keyIds = await Promise.all(['one', 'two', 'three'].map(createKey));
    const row = await queryOne<{ id: string }>(em(), sql`select id from wallet where user_id = ${ownerId}`);
    walletId = row?.id ?? '';
    const movement = { walletId, actor: SYSTEM_ACTOR, description: 'test', kind: 'ADJUSTMENT' as const };
    await creditCash(em(), { ...movement, amount: 1_000_000n, reference: 'cash' });
    const [nodeId, journalId] = [newId('nod'), 'jnl_1'];
    await addNode(em(), { nodeId, journalId });
    const request = { nodeId, journalId, walletId, keyId: null, requestNo: 1, need: 1n };
    const lease = await requestLease(em(), { ...request, waiting: 900_000n, want: 900_000n });
    const position = { journalId, leaseId: lease.id, walletId };
    charged = reported({ ...position, seq: 1, cost: 100_000n, keyId: keyIds[0] ?? '' });
    const costlier = reported({ ...position, seq: 2, cost: 200_000n, keyId: keyIds[2] ?? '' });
    const free = { walletId, journalId: null, leaseId: null, seq: null, cost: 0n };
    refused = reported({ ...free, keyId: keyIds[0] ?? '', status: 'FAILED', outcome: 'REFUSED' });
    const cut = { status: 'CANCELLED', outcome: 'CLIENT_LEFT' } as const;
    left = {
      paid: reported({ ...position, ...cut, seq: 3, cost: 50_000n }),
      free: reported({ ...free, ...cut }),
    };
    const node = { ...SYSTEM_ACTOR, kind: 'NODE' as const, id: nodeId };
    await settle(em(), {
      node,
      records: [{ ...costlier, at: new Date(Date.now() - 60_000) }, charged, refused, left.paid, left.free],
    });
  });
  afterAll(() => test.close());

  const em = () => test.orm.em.fork();

  async function createKey(name: string): Promise<string> {
    const answer = await owner.send(
      `mutation ($name: String!) {
        apiKeyCreate(input: { name: $name, group: DEFAULT, idempotencyKey: $name }) {
        apiKey { id } userErrors { code } } }`,
      { name },
    );
    return pick<string>(answer, 'apiKeyCreate', 'apiKey', 'id');
  }

  it('a receipt shows the owner request, charge and reason, but no journal position', async () => {
    const receipt = pick(await owner.send(RECEIPT, { id: charged.requestId }), 'requestReceipt');
    expect(receipt).toMatchObject({
      explanation: 'The whole answer was delivered.',
      amount: '0.10',
      settlement: 'LEASE',
      place: null,
      entry: { outcome: 'DELIVERED', key: { name: 'one' }, model: { name: 'swift' }, route: null },
    });
    const free = pick(await owner.send(RECEIPT, { id: refused.requestId }), 'requestReceipt');
    expect(free).toMatchObject({ amount: '0.00', settlement: null, transactionId: null });
    expect(
      pick<string>(await owner.send(RECEIPT, { id: refused.requestId }), 'requestReceipt', 'explanation'),
    ).toMatch(/not charged/);
  });

  it('a receipt states a charge of a client that left only if the client was charged', async () => {
    const read = async ({ requestId }: ReportedUsage) =>
      pick(await owner.send(RECEIPT, { id: requestId }), 'requestReceipt');
    const disconnected = 'The client disconnected after content was relayed.';
    expect(await read(left.paid)).toMatchObject({
      explanation: `${disconnected} The request was charged.`,
      amount: '0.05',
    });
    expect(await read(left.free)).toMatchObject({
      explanation: `${disconnected} Its price is zero.`,
      amount: '0.00',
    });
  });

  it('a receipt shows administrators the journal position, and is null for other users', async () => {
    const seen = pick(await (await test.admin()).send(RECEIPT, { id: charged.requestId }), 'requestReceipt');
    expect(seen).toMatchObject({ place: { journalId: 'jnl_1', seq: '1' } });
    const other = await test.user('other@example.com');
    expect((await other.send(RECEIPT, { id: charged.requestId })).data).toEqual({ requestReceipt: null });
  });

  it.each([
    ['LAST_USED_AT', 'DESC', ['one', 'three', 'two']],
    ['LAST_USED_AT', 'ASC', ['two', 'three', 'one']],
    ['SPEND', 'DESC', ['three', 'one', 'two']],
    ['SPEND', 'ASC', ['two', 'one', 'three']],
    ['NAME', 'ASC', ['one', 'three', 'two']],
    ['CREATED_AT', 'DESC', null],
  ])('keys are sorted by %s %s over all pages', async (field, direction, wanted) => {
    const names: string[] = [];
    let after: string | null = null;
    for (let page = 0; page < 4; page += 1) {
      const answer = await owner.send(
        `query ($after: String) { viewer { apiKeys(first: 1, after: $after,
          orderBy: { field: ${field}, direction: ${direction} }) {
          nodes { name } pageInfo { hasNextPage endCursor } } } }`,
        { after },
      );
      const keys = pick<{ nodes: { name: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } }>(
        answer,
        'viewer',
        'apiKeys',
      );
      names.push(...keys.nodes.map(({ name }) => name));
      after = keys.pageInfo.endCursor;
      if (!keys.pageInfo.hasNextPage) break;
    }
    if (wanted) expect(names).toEqual(wanted);
    expect(names.toSorted()).toEqual(['one', 'three', 'two']);
  });

  it('a ledger entry names the administrator who made it to administrators only', async () => {
    const admin = await test.admin();
    const adminId = pick<string>(await admin.send('{ viewer { id } }'), 'viewer', 'id');
    const actor = { ...SYSTEM_ACTOR, kind: 'USER' as const, id: adminId, label: 'x' };
    const reason = 'sorry';
    await adjust(em(), {
      userId: ownerId,
      bucket: 'GIFT',
      amount: 5n,
      reason,
      idempotencyKey: 'secret',
      actor,
    });
    const source = `{ nodes { kind reference reverses { id } actor { kind id label } balanceAfter } }`;
    const mine = pick<{ reference: string; actor: { id: string | null; label: string } }[]>(
      await owner.send(`{ viewer { wallet { ledger(first: 1) ${source} } } }`),
      'viewer',
      'wallet',
      'ledger',
      'nodes',
    );
    expect(mine[0]).toMatchObject({
      actor: { kind: 'USER', id: null, label: 'administrator' },
      reverses: null,
    });
    expect(mine[0]?.reference).not.toContain('secret');
    const theirs = pick<typeof mine>(
      await admin.send(`{ admin { ledger(first: 1, userId: "${ownerId}") ${source} } }`),
      'admin',
      'ledger',
      'nodes',
    );
    expect(theirs[0]).toMatchObject({ actor: { id: adminId, label: 'admin@example.com' } });
    expect(theirs[0]?.reference).toContain('secret');
  });
});
