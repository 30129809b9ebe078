/** Tests sections of configuration files: access of upstreams to clouds and proxies, policy, payments. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyTo, exportOf } from '../../test/control/configuration-rounds.ts';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { policyVersions } from '../accounts/policy.service.ts';
import { query, sql } from '../database/sql.ts';
import { readDocument } from './yaml.ts';

const AWS_KEYS =
  '{"accessKeyId":"AKIAEXAMPLE0123456789","secretAccessKey":"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}';
const SECRETS = new Map([
  ['env:AWS', AWS_KEYS],
  ['env:KEY', 'sk-plain-0123456789'],
  ['env:CARD', 'sk_test_0123456789abcdef'],
]);
const BEDROCK = `version: 1
upstreams:
  - name: bedrock
    protocols: [anthropic-messages]
    baseUrl: https://127.0.0.1:9
    access: { auth: AWS_KEYS, region: eu-central-1, style: BEDROCK, proxyUrl: "http://127.0.0.1:3128" }
    credentials: [{ label: main, secret: "env:AWS" }]
`;

describe('configuration files', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  const apply = async (source: string) => applyTo(test, readDocument(source), { secrets: SECRETS });
  const refusal = async (source: string): Promise<string> =>
    apply(source).then(
      () => 'accepted',
      (error: unknown) => (error instanceof Error ? error.message : 'no Error'),
    );
  const bindings = () =>
    query<{ binding: string | null; enabled: boolean }>(
      test.orm.em.fork(),
      sql`select c.binding, c.enabled from credential c join provider p on p.id = c.provider_id
      where p.name = 'bedrock'`,
    );

  it('set the access of an upstream to a cloud over a proxy, and its credential', async () => {
    expect((await apply(BEDROCK)).map(({ kind }) => kind)).toEqual(['upstream', 'credential']);
    expect(await apply(BEDROCK)).toEqual([]);
    expect(await bindings()).toEqual([{ binding: 'AWS_KEYS', enabled: true }]);
    const exported = await exportOf(test);
    expect(exported).toContain('region: eu-central-1');
    expect(exported).toContain('proxyUrl: http://127.0.0.1:3128');
    expect(exported).not.toContain('wJalr');
    expect(await applyTo(test, readDocument(exported))).toEqual([]);
  });

  it('replace an access as a whole, and ask for the secret again if its use changes', async () => {
    await apply(BEDROCK);
    const plain = (credentials: string) =>
      `{ version: 1, upstreams: [{ name: bedrock, access: null${credentials} }] }`;
    expect(await refusal(plain(''))).toContain('was stored for another use');
    await apply(plain(', credentials: [{ label: main, secret: "env:KEY" }]'));
    expect(await bindings()).toEqual([{ binding: null, enabled: true }]);
    const changes = await apply(BEDROCK);
    expect(changes.map(({ kind }) => kind)).toEqual(['upstream', 'credential']);
    expect(await bindings()).toEqual([{ binding: 'AWS_KEYS', enabled: true }]);
  });

  it.each([
    ['{ auth: AWS_KEYS }', 'Enter region'],
    ['{ auth: BEARER, region: eu-central-1 }', 'Leave region empty'],
    ['{ auth: PASSWORD }', 'Write one of API_KEY'],
    ['{ proxyUrl: "http://user:secret@127.0.0.1:3128" }', 'without a user'],
    ['{ headers: [{ name: authorization, value: x }] }', 'the gateway decides'],
  ])('refuse the access %s', async (access, advice) => {
    const before = await exportOf(test);
    const source = `{ version: 1, upstreams: [{ name: other, protocols: [openai-chat],
      baseUrl: "http://127.0.0.1:9", access: ${access} }] }`;
    expect(await refusal(source)).toContain(advice);
    expect(await exportOf(test)).toBe(before);
  });

  it('refuse a secret that has the wrong form for its access', async () => {
    expect(await refusal(BEDROCK.replace('env:AWS', 'env:KEY'))).toContain('accessKeyId');
  });

  it('publish a version of the policy once', async () => {
    const source = `version: 1
policy: { version: "7.0", markdown: "# New terms", changeSummary: Shorter., requireReacceptance: false }
`;
    expect(await apply(source)).toMatchObject([{ kind: 'policy', name: '7.0' }]);
    expect(await apply(source)).toEqual([]);
    const [newest] = await policyVersions(test.orm.em.fork());
    expect(newest).toMatchObject({ version: '7.0', markdown: '# New terms', requiresAcceptance: false });
    expect(await exportOf(test)).toContain('# New terms');
  });

  it('set payments with the key by reference, and store the key encrypted', async () => {
    const source = `version: 1
payments: { apiKey: "env:CARD", apiAddress: "https://127.0.0.1:9", amountMin: 5, presets: [10, 25],
  taxCode: txcd_10000000 }
`;
    const [change] = await apply(source);
    expect(change).toMatchObject({
      kind: 'payments',
      after: { amountMin: '5.00', presets: ['10.00', '25.00'] },
    });
    expect(await apply(source)).toEqual([]);
    const stored = JSON.stringify(await query(test.orm.em.fork(), sql`select * from payment_settings`));
    expect(stored).not.toContain('sk_test_0123456789abcdef');
    const exported = await exportOf(test);
    expect(exported).toContain('taxCode: txcd_10000000');
    expect(exported).not.toContain('sk_test');
  });
});
