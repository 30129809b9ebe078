/** Tests configuration files: export, changes, refusals, secrets, tokens and concurrency. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BASE, SECRETS } from '../../test/control/configuration-edits.ts';
import { applyTo, editAndRevert, exportOf } from '../../test/control/configuration-rounds.ts';
import { codesOf, pick, startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { query, sql } from '../database/sql.ts';
import { checkChain } from '../audit/audit.service.ts';
import { createFirstToken } from './first-token.ts';
import { run } from './command.ts';
import { documentShape } from './document.ts';
import { readDocument } from './yaml.ts';

const APPLY = `mutation ($input: AdminConfigurationInput!) { adminConfigurationApply(input: $input) {
  changes { kind name action fields { name before after } } state userErrors { code message } } }`;

describe('configuration files', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  const token = (scopes: string[]) =>
    createFirstToken(test.settings.databaseUrl, { name: 'deploy', scopes, days: 1, email: null });
  const countEvents = async () =>
    (await query<{ n: string }>(test.orm.em.fork(), sql`select count(*) as n from audit_event`))[0]?.n;
  const refusal = async (source: string) => {
    try {
      await applyTo(test, readDocument(source));
    } catch (error) {
      return error instanceof Error ? error.message : 'no Error';
    }
    return 'accepted';
  };

  it('change nothing when the export is applied, with everything pruned', async () => {
    await applyTo(test, BASE);
    const exported = await exportOf(test);
    const events = await countEvents();
    const prune = ['models', 'upstreams', 'credentials', 'routes'] as const;
    expect(await applyTo(test, { ...readDocument(exported), prune: [...prune] })).toEqual([]);
    expect([await exportOf(test), await countEvents()]).toEqual([exported, events]);
  });

  it('restore the state after random edits were applied and taken back', async () => {
    expect(await editAndRevert(test, { base: BASE, rounds: 12, editsPerRound: 4, seed: 20 })).toBeGreaterThan(
      12,
    );
    expect((await checkChain(test.orm.em.fork(), null)).brokenAt).toBeNull();
  });

  it('contain no secret in exports, changes and the audit log', async () => {
    await applyTo(test, BASE);
    const changes = await applyTo(test, BASE, {
      secrets: new Map([...SECRETS, ['env:ONE', 'sk-other-9876543210']]),
    });
    expect(changes.map(({ kind, name }) => [kind, name])).toEqual([
      ['credential', 'alpha/one'],
      ['credential', 'beta/one'],
    ]);
    const audit = await query<{ text: string }>(
      test.orm.em.fork(),
      sql`select coalesce(before::text, '') || coalesce(after::text, '') as text from audit_event`,
    );
    const written = `${await exportOf(test)} ${audit.map(({ text }) => text).join(' ')}`;
    for (const secret of [...SECRETS.values(), 'sk-other-9876543210']) expect(written).not.toContain(secret);
    await applyTo(test, BASE);
  });

  it('apply the example of the documentation, twice with one result', async () => {
    const example = readDocument(readFileSync('docs/operations/gateway.yaml', 'utf8'));
    const secrets = new Map([
      ['env:PROVIDER_KEY', 'sk-provider-0123456789'],
      ['file:/run/secrets/house', 'sk-house-0123456789'],
    ]);
    expect((await applyTo(test, example, { secrets, dryRun: true })).length).toBeGreaterThan(7);
    expect(await exportOf(test)).not.toContain('house-small');
    await applyTo(test, example, { secrets });
    expect(await applyTo(test, example, { secrets })).toEqual([]);
    await applyTo(test, BASE);
  });

  it('have the committed JSON Schema', async () => {
    const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...documentShape.schema };
    await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot(
      '../../docs/operations/gateway.schema.json',
    );
  });

  it.each([
    ['version: 2', 'version: Write one of 1.'],
    ['{ version: 1, model: [] }', 'There is no field model. Known fields:'],
    ['{ version: 1, models: [{ name: a }, { name: a }] }', 'a is there twice'],
    ['{ version: 1, models: [{ name: fresh }] }', 'needs tier, contextTokens, price, groups, families'],
    ['{ version: 1, prune: [routes] }', 'The section routes is missing'],
    ['{ version: 1, prune: [routes], routes: [] }', 'It would have no usable route'],
    [
      '{ version: 1, upstreams: [{ name: alpha, baseUrl: "http://127.0.0.9" }] }',
      'alpha moves to http://127.0.0.9',
    ],
    ['{ version: 1, upstreams: [{ name: alpha, credentials: [{ label: new }] }] }', 'so it needs secret'],
    [
      '{ version: 1, upstreams: [{ name: alpha, credentials: [{ label: a, secret: sk-1 }] }] }',
      'must not be in this file',
    ],
    [
      '{ version: 1, upstreams: [{ name: alpha, credentials: [{ label: a, secret: "env:NONE" }] }] }',
      'env:NONE is missing',
    ],
    [
      '{ version: 1, routes: [{ model: none, upstream: alpha, upstreamModel: x, families: [messages] }] }',
      'There is no none',
    ],
    ['{ version: 1, models: [{ name: swift, state: DRAFT }] }', 'cannot become a draft again'],
    ['{ version: 1, policy: { version: "1.0", markdown: other } }', 'Give the new text a higher number'],
    ['{ version: 1, models: [{ name: swift, price: 0 }] }', 'Enter a price above zero'],
    ['{ version: 1, limits: { concurrentRequestsPerKey: 0 } }', 'from 1 to 10000'],
  ])('are refused with advice: %s', async (source, advice) => {
    await applyTo(test, BASE);
    const before = await exportOf(test);
    expect(await refusal(source)).toContain(advice);
    expect(await exportOf(test)).toBe(before);
  });

  it('set limits of customers, which nodes receive in the same transaction', async () => {
    const limits = { concurrentRequestsPerWallet: 200, concurrentRequestsPerKey: 20 };
    expect(await applyTo(test, { ...BASE, limits })).toMatchObject([{ kind: 'limits', after: limits }]);
    expect(await applyTo(test, { ...BASE, limits })).toEqual([]);
    const [record] = await query<{ payload: object }>(
      test.orm.em.fork(),
      sql`select payload from config_log where kind = 'SETTINGS' order by revision desc limit 1`,
    );
    expect(record?.payload).toMatchObject({ concurrentRequests: { perWallet: 200, perKey: 20 } });
    await applyTo(test, {
      version: 1,
      limits: { concurrentRequestsPerWallet: 64, concurrentRequestsPerKey: 64 },
    });
  });

  it('are applied once if several instances apply them at the same moment', async () => {
    await applyTo(test, { ...BASE, groups: { ...BASE.groups, vip: { ratio: '0.7' } } as typeof BASE.groups });
    const results = await Promise.all(Array.from({ length: 5 }, () => applyTo(test, BASE)));
    expect(results.map((changes) => changes.length).toSorted((one, other) => one - other)).toEqual([
      0, 0, 0, 0, 1,
    ]);
  });

  it('need the scope of each section of a token, and the state that was shown', async () => {
    const send = async (scopes: string[], input: Record<string, unknown>) =>
      test
        .browser()
        .send(
          APPLY,
          { input: { secrets: [], dryRun: false, reason: 'for a test', ...input } },
          { authorization: `Bearer ${await token(scopes)}` },
        );
    const document = '{ version: 1, groups: { vip: { ratio: 0.5 } }, storefront: { rpmCap: 7 } }';
    const narrow = await send(['ADMIN_CATALOG'], { document });
    expect(narrow.errors[0]?.extensions).toMatchObject({
      code: 'FORBIDDEN',
      requiredScope: 'ADMIN_STOREFRONT',
    });
    const both = ['ADMIN_CATALOG', 'ADMIN_STOREFRONT'];
    expect(
      codesOf(await send(both, { document, expectedState: 'another' }), 'adminConfigurationApply'),
    ).toEqual(['STALE_VERSION']);
    const done = await send(both, { document });
    expect(pick<object[]>(done, 'adminConfigurationApply', 'changes')).toHaveLength(2);
    await applyTo(test, BASE);
  });

  it('are applied and exported by the command, which needs no browser', async () => {
    const scopes = 'ADMIN_CATALOG,ADMIN_UPSTREAMS,ADMIN_STOREFRONT,ADMIN_USERS,ADMIN_WALLET,ADMIN_NODES';
    const lines: string[] = [];
    const environment = {
      DATABASE_URL: test.settings.databaseUrl,
      GATEWAY_URL: test.url,
      GATEWAY_TOKEN: '',
      PROVIDER_KEY: 'sk-provider-0123456789',
    };
    const parts = { environment, print: (line: string) => lines.push(line), confirm: async () => true };
    expect(await run(['token', '--name', 'ci', '--scopes', scopes], parts)).toBe(0);
    environment.GATEWAY_TOKEN = lines.pop() ?? '';
    expect(environment.GATEWAY_TOKEN).toMatch(/^gqt_/);
    await expect(run(['apply', '-f', 'docs/operations/gateway.yaml'], parts)).rejects.toThrow(
      'file:/run/secrets/house',
    );
    expect(await run(['export'], parts)).toBe(0);
    expect(`${lines.pop()}\n`).toBe(await exportOf(test));
  });
});

describe('the YAML reader', () => {
  it.each([
    ['a: &x 1\nb: *x', 'alias'],
    ['version: 1\nversion: 1', 'is there twice'],
    ['version: 1\n---\nversion: 1', 'not valid YAML'],
    ['version: !!js/function 1', 'not valid YAML'],
    ['['.repeat(100_000), 'not valid YAML'],
    [`version: ${'[ '.repeat(20)}${'] '.repeat(20)}`, 'nested too deeply'],
    ['x'.repeat(500_001), 'is longer than'],
    ['? [a]\n: 1', 'is not a name'],
    ['__proto__: { version: 1 }', 'There is no field __proto__'],
  ])('refuses %.40s', (source, advice) => {
    expect(() => readDocument(source)).toThrow(advice);
  });
});
