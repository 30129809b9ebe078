/** How the first view of a page is delivered: all at once, and nothing twice. */
import { readFileSync } from 'node:fs';
import type { ConsolePage } from '@gateway/shared/console-pages';
import { describe, expect, test } from 'vitest';
import { openTab, ready } from './test/browser.ts';
import { LATE, loadedScripts, namedScripts } from './test/scripts.ts';
import { houseOfTests } from './test/visit.ts';

const house = houseOfTests();

/** The live part shows the state of its connection, which is part of the bar. */
const LATE_BAR = /\/bar-[\w-]+\.js$/;

describe.skipIf(!ready)('the HTML', () => {
  test('preloads the texts in the language of the browser', async () => {
    const tab = await openTab(house.stage, { width: 1280, theme: 'light', language: 'zh-CN' });
    house.stage.fake.state.signedIn = false;
    await tab.go('/pricing');
    const named = await namedScripts(house.stage, '/pricing', 'zh-CN,zh;q=0.9,en;q=0.8');
    const loaded = await loadedScripts(tab.page);
    const late = [LATE, LATE_BAR];
    const notNamed = loaded.filter((file) => !named.includes(file) && !late.some((some) => some.test(file)));
    expect(notNamed).toEqual([]);
    expect(await tab.page.locator('html').getAttribute('lang')).toBe('zh-CN');
    await tab.context.close();
  });
});

test.skipIf(!ready)('pages of users load no script of administrators', () => {
  const pages: ConsolePage[] = JSON.parse(readFileSync(`${house.stage.folder}/pages.json`, 'utf8'));
  const own = pages.filter(({ path }) => !path.startsWith('/admin'));
  expect(own.length).toBeGreaterThan(0);
  const foreign = own.filter(({ files }) => files.some((file) => /\/admin-[\w-]+\.js$/.test(file)));
  expect(foreign.map(({ path }) => path)).toEqual([]);
});

/** The names of the operations that a page requests while it is visited. */
async function operationsOf(where: string, visit: () => Promise<void>): Promise<string[]> {
  const names: string[] = [];
  const { page } = house.tab;
  const note = (request: { url(): string; postData(): string | null }) => {
    if (!request.url().endsWith('/graphql')) return;
    names.push(/"operationName":"(\w+)"/.exec(request.postData() ?? '')?.[1] ?? '');
  };
  page.on('request', note);
  await house.visit(where, visit);
  page.off('request', note);
  return names;
}

describe.skipIf(!ready)('the first data', () => {
  test.each([
    { where: '/pricing', asked: ['Pricing', 'Visitor'] },
    { where: '/pricing/coder-max', asked: ['Model', 'Visitor'] },
    { where: '/keys', asked: ['KeyPools', 'Keys', 'Viewer'] },
    { where: '/sign-in', asked: ['SignInOptions'] },
    { where: '/register', asked: ['RegisterOptions'] },
    { where: '/quickstart', asked: ['Quickstart', 'Viewer'] },
    { where: '/usage', asked: ['Usage', 'UsageSums', 'Viewer'] },
    { where: '/admin/overview', asked: ['AdminFrame', 'Overview'] },
  ])('is requested once on $where', async ({ where, asked }) => {
    const names = await operationsOf(where, async () => undefined);
    expect(names.filter((name) => asked.includes(name)).toSorted()).toEqual(asked);
  });

  test('of the quickstart has the settings of the key that it shows first', async () => {
    const shown = async () => house.tab.page.getByRole('figure').first().waitFor();
    expect(await operationsOf('/quickstart', shown)).not.toContain('KeySetup');
  });

  test('is reported as missing and requested again if it does not arrive', async () => {
    house.stage.fake.state.broken = true;
    await house.visit('/pricing', async (page) => {
      await page.getByText('The prices could not be loaded').waitFor();
      house.stage.fake.state.broken = false;
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByRole('link', { name: 'coder-max' }).waitFor();
    });
  });

  test('is requested again by a page that opens after its frame was loaded again', async () => {
    house.stage.fake.state.broken = true;
    const { page } = house.tab;
    await page.goto(`${house.stage.fake.url}/keys`);
    const retry = page.getByRole('button', { name: 'Retry' });
    await retry.waitFor();
    house.stage.fake.state.broken = false;
    await retry.click();
    await page.getByRole('link', { name: 'Production API' }).first().waitFor();
  });
});
