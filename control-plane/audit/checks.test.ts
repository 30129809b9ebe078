/** Checks that administrators run: ledger invariants, the audit chain, and audited wallet adjustments. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { announceMail } from '../mail/mail.service.ts';
import { createOrm } from '../database/orm.ts';
import { inTransaction, query, sql } from '../database/sql.ts';
import type { Statement } from '../database/sql.ts';
import { INVARIANTS } from '../wallet/invariants.ts';
import { audit, auditEvents, checkChain } from './audit.service.ts';

let test: TestApp;
let admin: Browser;
beforeAll(async () => {
  test = await startTestApp();
  admin = await test.admin();
});
afterAll(() => test.close());

/** More events than one batch of the chain check. */
const MANY = 505;

const CHECK = '{ admin { ledgerCheck { checkedAt rules { rule promise violations { subject detail } } } } }';

it('ledgerCheck lists every rule, without violations', async () => {
  const rules = pick<{ rule: string; violations: unknown[] }[]>(
    await admin.send(CHECK),
    'admin',
    'ledgerCheck',
    'rules',
  );
  expect(rules.map(({ rule }) => rule)).toEqual(INVARIANTS.map(({ rule }) => rule));
  expect(rules.flatMap(({ violations }) => violations)).toEqual([]);
});

it('auditChain is whole after changes, and policyVersions lists a published version', async () => {
  const input = {
    version: '2.0',
    markdown: '# Privacy policy\n\nNew.',
    changeSummary: 'New text.',
    requireReacceptance: true,
  };
  await admin.send(
    'mutation ($input: AdminPolicyInput!) { adminPolicyPublish(input: $input) { userErrors { code } } }',
    { input },
  );
  const answer = await admin.send(
    '{ admin { auditChain { whole brokenAt complete } policyVersions { version } } }',
  );
  expect(pick(answer, 'admin', 'auditChain')).toMatchObject({ whole: true, brokenAt: null, complete: true });
  expect(pick(answer, 'admin', 'policyVersions')).toEqual([{ version: '2.0' }, { version: '1.0' }]);
});

it('checkChain checks all or the newest events, over several batches, and finds a change', async () => {
  const em = test.orm.em.fork();
  const actor = { kind: 'SYSTEM', id: null, label: 'system', ip: null, requestId: 'req_1' } as const;
  await inTransaction(em, async (inner) => {
    for (let index = 0; index < MANY; index += 1) {
      const entry = { actor, action: 'test.write', targetType: 'Test', targetId: null, reason: 'why' };
      await audit(inner, { ...entry, after: { zebra: index, ant: 1 } });
    }
  });
  const whole = await checkChain(em, null);
  expect(whole).toMatchObject({ brokenAt: null, complete: true });
  expect(whole.checked).toBeGreaterThanOrEqual(MANY);
  expect(await checkChain(em, 3)).toEqual({ brokenAt: null, complete: false, checked: 3 });
  const newest = await auditEvents(em, { actions: ['test.write'] }, { limit: MANY });
  expect(newest.map(({ after }) => after)).toEqual(
    Array.from({ length: MANY }, (_, index) => ({ zebra: MANY - 1 - index, ant: 1 })),
  );

  const [changed] = await query<{ id: string }>(
    em,
    sql`select id from audit_event order by seq desc offset ${MANY - 5} limit 1`,
  );
  await asOwner([
    sql`alter table audit_event disable trigger user`,
    sql`update audit_event set reason = 'another' where id = ${changed?.id}`,
    sql`alter table audit_event enable trigger user`,
  ]);
  expect(await checkChain(em, null)).toMatchObject({ brokenAt: changed?.id });
  expect(await checkChain(em, MANY)).toMatchObject({ brokenAt: changed?.id, complete: false });
  expect(await checkChain(em, 3)).toMatchObject({ brokenAt: null });
});

/** Runs statements as the database owner, because the runtime role cannot change audit events. */
async function asOwner(statements: readonly Statement[]): Promise<void> {
  const owner = await createOrm(test.settings.databaseUrl, { asOwner: true, connectionsMax: 1 });
  try {
    for (const statement of statements) await query(owner.em.fork(), statement);
  } finally {
    await owner.close(true);
  }
}

it('a wallet adjustment is audited with both balances, and cash is confirmed by mail', async () => {
  const em = test.orm.em.fork();
  await announceMail(em, { ...test.settings, smtpUrl: 'smtp://127.0.0.1:1' });
  const userId = pick<string>(await admin.send('{ viewer { id } }'), 'viewer', 'id');
  const adjust = (bucket: string, amount: string, idempotencyKey: string) =>
    admin.send(
      `mutation ($input: AdminWalletAdjustInput!) { adminWalletAdjust(input: $input) {
        wallet { id } userErrors { code } } }`,
      { input: { userId, bucket, amount, idempotencyKey, reason: 'invoice 7' } },
    );
  const mails = async () =>
    (await query<{ count: number }>(em, sql`select count(*)::integer as count from mail_outbox`))[0]?.count ??
    0;
  const before = await mails();
  await adjust('CASH', '5', 'one');
  await adjust('CASH', '5', 'one');
  expect(await mails()).toBe(before + 1);
  await adjust('GIFT', '1', 'two');
  await adjust('CASH', '-2', 'three');
  expect(await mails()).toBe(before + 1);
  const log = await admin.send(
    '{ admin { auditLog(filter: { actions: ["wallet.adjust"] }) { nodes { before after } } } }',
  );
  expect(pick(log, 'admin', 'auditLog', 'nodes')).toMatchObject([
    { before: { bucket: 'CASH', balance: '5.00' }, after: { amount: '-2.00', balance: '3.00' } },
    { before: { bucket: 'GIFT', balance: '0.00' }, after: { amount: '1.00', balance: '1.00' } },
    { before: { bucket: 'CASH', balance: '0.00' }, after: { amount: '5.00', balance: '5.00' } },
  ]);
});
