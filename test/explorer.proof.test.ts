/** The API explorer at /graphql in a real browser, over a real control plane, with the policy that it has. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath, sharedChromium } from '../console/test/chromium.ts';
import { pick, startTestApp } from './control/app.ts';
import type { TestApp } from './control/app.ts';

const SHOWN_MS = 60_000;
const TEST_MS = 120_000;

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp();
});

afterAll(() => test?.close());

describe('the address of the API', () => {
  const get = (accept: string, path = '/graphql') => fetch(`${test.url}${path}`, { headers: { accept } });

  it('shows the explorer to browsers, and answers other clients by the API', async () => {
    const page = await get('text/html,application/xhtml+xml');
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(await page.text()).toBe(readFileSync('dist/explorer/index.html', 'utf8'));
    const answer = await fetch(`${test.url}/graphql?query={__typename}`, {
      headers: { accept: 'application/json', 'apollo-require-preflight': '1' },
    });
    expect(await answer.json()).toMatchObject({ data: { __typename: 'Query' } });
  });

  it('permits inline styles in the explorer only, and nothing else that the console forbids', async () => {
    const policyOf = async (path: string): Promise<string[]> =>
      ((await get('text/html', path)).headers.get('content-security-policy') ?? '').split('; ');
    const [explorer, console] = [await policyOf('/graphql'), await policyOf('/keys')];
    expect(explorer.filter((rule) => !console.includes(rule))).toEqual(["style-src 'self' 'unsafe-inline'"]);
    expect(explorer).toHaveLength(console.length);
    expect(await policyOf('/graphql/index.html')).toEqual(console);
  });
});

/** Opens the explorer with an operation, signed in or not. Collects errors and foreign requests in `said`. */
async function open(query: string, cookie: string | null): Promise<{ page: Page; said: string[] }> {
  const context = await (await sharedChromium()).newContext();
  const [name = '', value = ''] = (cookie ?? '').split('=');
  if (cookie) await context.addCookies([{ name, value, url: test.url }]);
  const page = await context.newPage();
  const said: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) said.push(message.text());
  });
  page.on('pageerror', (error) => said.push(error.message));
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(test.url)) said.push(request.url());
  });
  await page.goto(`${test.url}/graphql?query=${encodeURIComponent(query)}`);
  // Its button stands there before the editors do.
  await page.locator('.graphiql-query-editor .view-lines').waitFor({ timeout: SHOWN_MS });
  return { page, said };
}

const run = (page: Page) => page.getByRole('button', { name: /^(Execute|Run)/ }).click();
const answer = (page: Page, text: string) =>
  page.locator('.graphiql-response', { hasText: text }).waitFor({ timeout: SHOWN_MS });

describe.skipIf(!chromiumPath)('the explorer', () => {
  it(
    'runs an operation with the session of the console, without errors or foreign requests',
    async () => {
      const admin = await test.admin();
      const { page, said } = await open('{ viewer { email } }', admin.cookie);
      await run(page);
      await answer(page, 'admin@example.com');
      expect(said).toEqual([]);
      await page.context().close();
    },
    TEST_MS,
  );

  it(
    'runs an operation with a pasted token, and keeps the token nowhere',
    async () => {
      const ann = await test.user('ann@example.com');
      const made = await ann.send(
        `mutation { accessTokenCreate(input: { name: "t", scopes: [KEYS_READ], expiresInDays: 1 }) {
          secret userErrors { code message } } }`,
      );
      const token = pick<string>(made, 'accessTokenCreate', 'secret');
      const { page, said } = await open('{ viewer { email } }', null);
      await page.getByRole('button', { name: 'Headers' }).click();
      await page.locator('.graphiql-editor-tool .view-lines:visible').click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText(JSON.stringify({ authorization: `Bearer ${token}` }));
      await run(page);
      await answer(page, 'ann@example.com');
      expect(said).toEqual([]);
      expect(
        await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])'),
      ).not.toContain(token);
      await page.context().close();
    },
    TEST_MS,
  );
});

describe.skipIf(!chromiumPath)('the design of the explorer', () => {
  it.each([
    { colorScheme: 'light', locale: 'en-US', title: 'API explorer', back: 'Back to the console' },
    { colorScheme: 'dark', locale: 'zh-CN', title: 'API 浏览器', back: '返回控制台' },
  ] as const)(
    'has the colours of the console in the $colorScheme theme, a title and a way back in $locale',
    async ({ colorScheme, locale, title, back }) => {
      const context = await (await sharedChromium()).newContext({ colorScheme, locale });
      const page = await context.newPage();
      await page.goto(`${test.url}/graphql`);
      const editor = page.locator('.graphiql-query-editor');
      await editor.locator('.view-lines').waitFor({ timeout: SHOWN_MS });
      expect(await page.title()).toBe(title);
      const token = (name: string) =>
        page.evaluate((of) => {
          const probe = document.createElement('i');
          probe.style.color = `var(${of})`;
          document.body.append(probe);
          return getComputedStyle(probe).color;
        }, name);
      const accent = page.locator('.explorer-bar').getByRole('link', { name: back }).first();
      expect(await accent.evaluate((link) => getComputedStyle(link).color)).toBe(await token('--accent'));
      const base = await page.locator('.graphiql-container').evaluate((box) => {
        return getComputedStyle(box).getPropertyValue('--color-base');
      });
      expect(base).toBe(
        await page.evaluate(() => document.documentElement.style.getPropertyValue('--color-base')),
      );
      await page.locator('.explorer-bar').getByRole('link', { name: back }).last().click();
      await page.waitForURL(/\/(keys|sign-in)/);
      await context.close();
    },
    TEST_MS,
  );
});

describe.skipIf(!chromiumPath)('the explorer on a phone', () => {
  it(
    'has operation and answer below each other, and shows the documentation instead of both',
    async () => {
      const viewport = { width: 360, height: 740 };
      const context = await (await sharedChromium()).newContext({ viewport, hasTouch: true, isMobile: true });
      const page = await context.newPage();
      await page.goto(`${test.url}/graphql`);
      const editors = page.locator('.graphiql-editors');
      await editors.locator('.view-lines').first().waitFor({ timeout: SHOWN_MS });
      const [above, below] = [
        await editors.boundingBox(),
        await page.locator('.graphiql-response').boundingBox(),
      ];
      expect(above?.width).toBe(viewport.width);
      expect(above?.height).toBeGreaterThan(200);
      expect(below?.height).toBeGreaterThan(150);
      expect(below?.y).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0) - 1);
      await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
      await page.getByRole('heading', { name: 'Docs' }).or(page.getByText('Docs')).first().waitFor();
      expect(await editors.isVisible()).toBe(false);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(viewport.width);
      await page.getByRole('button', { name: 'Hide Documentation Explorer' }).click();
      await editors.waitFor();
      await context.close();
    },
    TEST_MS,
  );
});

describe.skipIf(!chromiumPath)('a subscription in the explorer', () => {
  it(
    'is followed over its socket',
    async () => {
      const bob = await test.user('bob@example.com');
      const { page, said } = await open('subscription { apiKeyUpdated { name } }', bob.cookie);
      const opened = page.waitForEvent('websocket');
      await run(page);
      await (await opened).waitForEvent('framereceived');
      const create =
        'mutation ($k: String!) { apiKeyCreate(input: { name: "heard", idempotencyKey: $k }) { replayed } }';
      const shown = answer(page, 'heard').then(() => true);
      for (let attempt = 0; ; attempt += 1) {
        await bob.send(create, { k: String(attempt) });
        const later = new Promise<false>((resolve) => {
          setTimeout(resolve, 500, false);
        });
        if (await Promise.race([shown, later])) break;
      }
      expect(said).toEqual([]);
      await page.context().close();
    },
    TEST_MS,
  );
});
