/** How the first view of a page is delivered: all at once, and nothing twice. */
import { describe, expect, test } from 'vitest';
import { ADMIN_PAGES, openTab, OWN_PAGES, PUBLIC_PAGES, ready } from './test/browser.ts';
import { houseOfTests } from './test/visit.ts';

/** What only an answer of the service decides on: other ways to sign in, banners, the Markdown of a chat. */
const AFTER_AN_ANSWER =
  /\/(?:other-ways|passkeys|pool-endings|policy-banner|reply-text|chunk|code-block)-[\w-]+\.js$/;

/** All but the address that leads nowhere: nobody knows beforehand what it needs. */
const PAGES = [...PUBLIC_PAGES, ...OWN_PAGES, ...ADMIN_PAGES].filter((page) => page !== '/no-such-page');

const house = houseOfTests();

/** The scripts that a document names, as paths. */
async function namedAt(where: string, language = 'en'): Promise<string[]> {
  const [address = ''] = where.split('#');
  const answer = await fetch(house.stage.fake.url + address, { headers: { 'accept-language': language } });
  return [...(await answer.text()).matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, file = '']) => file);
}

function loadedScripts(): string[] {
  return performance
    .getEntriesByType('resource')
    .map(({ name }) => new URL(name).pathname)
    .filter((name) => name.endsWith('.js'));
}

describe.skipIf(!ready)('the HTML', () => {
  test.each(PAGES)(
    'of %s names every script that its first view needs, so that none waits for another',
    async (where) => {
      const named = await namedAt(where);
      await house.visit(where, async (page) => {
        const loaded = await page.evaluate(loadedScripts);
        const late = loaded.filter((file) => !named.includes(file) && !AFTER_AN_ANSWER.test(file));
        expect(late).toEqual([]);
        expect(named.filter((file) => !loaded.includes(file))).toEqual([]);
      });
    },
  );

  test('names the words of the language that the browser asks for', async () => {
    const tab = await openTab(house.stage, { width: 1280, theme: 'light', language: 'zh-CN' });
    house.stage.fake.state.signedIn = false;
    await tab.go('/pricing');
    const named = await namedAt('/pricing', 'zh-CN,zh;q=0.9,en;q=0.8');
    const loaded = await tab.page.evaluate(loadedScripts);
    expect(loaded.filter((file) => !named.includes(file))).toEqual([]);
    expect(await tab.page.locator('html').getAttribute('lang')).toBe('zh-CN');
    await tab.context.close();
  });
});

describe.skipIf(!ready)('the first data', () => {
  test.each([
    { where: '/pricing', asked: ['Pricing', 'Visitor'] },
    { where: '/pricing/coder-max', asked: ['Model', 'Visitor'] },
    { where: '/keys', asked: ['KeyPools', 'Keys', 'Viewer'] },
  ])('of $where is asked for once', async ({ where, asked }) => {
    const names: string[] = [];
    const { page } = house.tab;
    const note = (request: { url(): string; postData(): string | null }) => {
      if (!request.url().endsWith('/graphql')) return;
      names.push(/"operationName":"(\w+)"/.exec(request.postData() ?? '')?.[1] ?? '');
    };
    page.on('request', note);
    await house.visit(where, async () => undefined);
    page.off('request', note);
    expect(names.filter((name) => asked.includes(name)).toSorted()).toEqual(asked);
  });

  test('that does not come is told, and asked for again', async () => {
    house.stage.fake.state.broken = true;
    await house.visit('/pricing', async (page) => {
      await page.getByText('The prices could not be loaded').waitFor();
      house.stage.fake.state.broken = false;
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByRole('link', { name: 'coder-max' }).waitFor();
    });
  });
});
