/** Tests publication and acceptance of the privacy policy over the API. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick, POLICY, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';

const PUBLISH = `mutation ($input: AdminPolicyInput!) { adminPolicyPublish(input: $input) {
    policy { version sha256 } userErrors { code field } } }`;
const OPEN = '{ viewer { mustAcceptPolicy { version } } }';

describe('the privacy policy', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  const version = (number: string, more: object = {}) => ({
    input: {
      version: number,
      markdown: `# ${number}`,
      changeSummary: 'Simpler language.',
      requireReacceptance: false,
      ...more,
    },
  });

  it('has public versions, and must be accepted again only after a version that requires it', async () => {
    const [admin, user] = [await test.admin(), await test.user('reader@example.com')];
    const open = async () => pick(await user.send(OPEN), 'viewer', 'mustAcceptPolicy');
    const publish = async (number: string, more: object = {}) =>
      codesOf(await admin.send(PUBLISH, version(number, more)), 'adminPolicyPublish');
    expect(await publish('1.1')).toEqual([]);
    expect(await publish('1.2', { reason: 'asked for by counsel' })).toEqual([]);
    const log = await admin.send(
      '{ admin { auditLog(first: 2, filter: { actions: ["policy.publish"] }) { nodes { reason after } } } }',
    );
    expect(pick(log, 'admin', 'auditLog', 'nodes')).toMatchObject([
      { reason: 'asked for by counsel', after: { version: '1.2', changeSummary: expect.any(String) } },
      { after: { version: '1.1' } },
    ]);
    expect(await open()).toBeNull();
    expect(await publish('2.0', { requireReacceptance: true })).toEqual([]);
    expect(await publish('2.1')).toEqual([]);
    expect(await open()).toEqual({ version: '2.1' });
    await user.send('mutation { policyAccept(input: { version: "2.1" }) { userErrors { code } } }');
    expect(await open()).toBeNull();
    const later = new Date(Date.now() + 60_000).toISOString();
    expect(await publish('3.0', { requireReacceptance: true, effectiveAt: later })).toEqual([]);
    expect(await open()).toBeNull();
    const old = await user.send(`{ privacyPolicy(version: "${POLICY}") { version } }`);
    expect(pick(old, 'privacyPolicy', 'version')).toBe(POLICY);
    const history = await test.browser().send('{ privacyPolicyVersions { version sha256 } }');
    const rows = pick<{ version: string; sha256: string }[]>(history, 'privacyPolicyVersions');
    expect(rows.map((row) => row.version)).toEqual(['2.1', '2.0', '1.2', '1.1', POLICY]);
    expect(rows[0]?.sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is accompanied by the public retention time of the usage log', async () => {
    const days = async () => pick(await test.browser().send('{ usageRetentionDays }'), 'usageRetentionDays');
    expect(await days()).toBeNull();
    test.settings.usageRetentionDays = 400;
    expect(await days()).toBe(400);
    test.settings.usageRetentionDays = null;
  });

  it('refuses a used or malformed number, an empty text, and a time before another version', async () => {
    const admin = await test.admin();
    const wrong = [
      { version: '1.1' },
      { version: 'new' },
      { markdown: ' ' },
      { effectiveAt: '2020-01-01T00:00:00.000Z' },
    ];
    for (const part of wrong) {
      const answer = await admin.send(PUBLISH, version('9.0', part));
      expect(codesOf(answer, 'adminPolicyPublish')).toHaveLength(1);
    }
  });
});
