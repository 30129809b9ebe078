/** Tests publication and acceptance of the privacy policy over the API. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick, POLICY, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { query, sql } from '../database/sql.ts';
import { defaultPolicy, digestOfPolicy } from './policy-text.ts';
import { seedPolicy } from './policy.service.ts';

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

describe('the default text of the policy', () => {
  /** Digest of the present text. If you change the text, add the digest below to EARLIER_DEFAULTS first. */
  const PRESENT = '1e86249765555bbe5565f6b40b2856a9a806789655a4b40a44c90ee1504ac7d3';
  /** The text before Personal Intelligence was described. */
  const EARLIER = defaultPolicy('1.0').replace(
    /The model that reads your conversations[^]*Requests made with an API key are never/,
    'You can delete single conversations, single derived items, or everything at once. Requests\n' +
      'made with an API key are never',
  );
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  const em = () => test.orm.em.fork();
  const versions = () =>
    query<{ version: string; markdown: string }>(
      em(),
      sql`select version, markdown from policy_version order by effective_at`,
    );

  it('is the one whose digest is recorded, whatever version it names', () => {
    expect(digestOfPolicy(defaultPolicy('1.0'))).toBe(PRESENT);
    expect(digestOfPolicy(defaultPolicy('7.12'))).toBe(PRESENT);
  });

  it('follows the release once if it was never edited, and nobody must accept it again', async () => {
    const user = await test.user('early@example.com');
    await query(em(), sql`update policy_version set markdown = ${EARLIER}`);
    await Promise.all([seedPolicy(em()), seedPolicy(em())]);
    await seedPolicy(em());
    const [, published, ...more] = await versions();
    expect(published).toEqual({ version: '1.1', markdown: defaultPolicy('1.1') });
    expect(published?.markdown).toContain('Version 1.1. ');
    expect(more).toEqual([]);
    const open = await user.send('{ viewer { mustAcceptPolicy { version } } }');
    expect(pick(open, 'viewer', 'mustAcceptPolicy')).toBeNull();
  });

  it("never replaces an administrator's text", async () => {
    const own = `${EARLIER}\nOur office is in Oslo.`;
    await query(em(), sql`update policy_version set markdown = ${own} where version = '1.1'`);
    await seedPolicy(em());
    expect((await versions()).map(({ version }) => version)).toEqual(['1.0', '1.1']);
  });
});
