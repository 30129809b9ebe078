import { afterAll, beforeAll, expect, it } from 'vitest';
import { pick, startTestApp } from '../../test/control/app.ts';
import type { Browser, TestApp } from '../../test/control/app.ts';
import { INVARIANTS } from '../wallet/invariants.ts';

let test: TestApp;
let admin: Browser;
beforeAll(async () => {
  test = await startTestApp();
  admin = await test.admin();
});
afterAll(() => test.close());

const CHECK = '{ admin { ledgerCheck { checkedAt rules { rule promise violations { subject detail } } } } }';

it('the check of the ledger names every rule, and nothing that breaks one', async () => {
  const rules = pick<{ rule: string; violations: unknown[] }[]>(
    await admin.send(CHECK),
    'admin',
    'ledgerCheck',
    'rules',
  );
  expect(rules.map(({ rule }) => rule)).toEqual(INVARIANTS.map(({ rule }) => rule));
  expect(rules.flatMap(({ violations }) => violations)).toEqual([]);
});

it('the chain of the audit log is whole after changes, and a version published is in the list', async () => {
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
  const answer = await admin.send('{ admin { auditChain { whole brokenAt } policyVersions { version } } }');
  expect(pick(answer, 'admin', 'auditChain')).toEqual({ whole: true, brokenAt: null });
  expect(pick(answer, 'admin', 'policyVersions')).toEqual([{ version: '2.0' }, { version: '1.0' }]);
});
