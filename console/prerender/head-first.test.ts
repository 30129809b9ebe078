/** Signed-in pages whose frame and head are in the HTML: who gets them, and how the scripts continue them. */
/// <reference lib="dom" />
import { readFileSync } from 'node:fs';
import type { ConsolePage } from '@gateway/shared/console-pages';
import { describe, expect, test } from 'vitest';
import { ready, type View } from '../test/browser.ts';
import { expectFirstView, inLateTab } from '../test/late-scripts.ts';
import { houseOfTests } from '../test/visit.ts';

const house = houseOfTests();
const PAGES = ['/admin/overview', '/keys', '/quickstart', '/usage'];
const WIDE: View = { width: 1280, theme: 'light' };
const VIEWS: readonly View[] = [
  WIDE,
  { width: 1280, theme: 'dark', language: 'zh-CN' },
  { width: 800, theme: 'light' },
  { width: 800, theme: 'light', language: 'zh-CN' },
  { width: 390, theme: 'dark' },
];
const NOTHING = '<div id="root"></div>';

/** The account is an administrator on the pages of administrators, and nowhere else. */
function setRoleFor(where: string): void {
  house.stage.fake.state.admin = where.startsWith('/admin');
}

/** The HTML at this address. */
async function htmlAt(where: string): Promise<string> {
  return (await fetch(house.stage.fake.url + where)).text();
}

describe.skipIf(!ready)('the head of a signed-in page', () => {
  test('is in the HTML of these pages, and of no others', () => {
    const pages: ConsolePage[] = JSON.parse(readFileSync(`${house.stage.folder}/pages.json`, 'utf8'));
    const found = pages.filter(({ sessionViews }) => sessionViews !== undefined);
    expect(found.map(({ path }) => path).toSorted()).toEqual(PAGES);
  });

  test.each(PAGES)('at %s is shown with its frame without JavaScript', async (where) => {
    const context = await house.stage.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(house.stage.fake.url + where);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(await page.locator('noscript + #root').count()).toBe(1);
    expect(await page.locator('script:not([src]), style, [style]').count()).toBe(0);
    await context.close();
  });

  test.each(PAGES)('at %s is not in the HTML for visitors, nor with parameters', async (where) => {
    expect(await htmlAt(where)).not.toContain(NOTHING);
    expect(await htmlAt(`${where}?sort=name`)).toContain(NOTHING);
    house.stage.fake.state.signedIn = false;
    expect(await htmlAt(where)).toContain(NOTHING);
  });

  test.each(PAGES.flatMap((where) => VIEWS.map((view) => ({ where, view, ...view }))))(
    'at $where is continued by the scripts: $width px, $theme, $language',
    async ({ where, view }) => {
      setRoleFor(where);
      await inLateTab(house.stage, view, async ({ page, open, release }) => {
        await open(where);
        const expectContinued = await expectFirstView(page, view);
        expect(await page.getByRole('navigation').count()).toBe(1);
        const main = await page.getByRole('navigation').getAttribute('aria-label');
        expect(await page.getByRole('button').count()).toBe(0);
        await release();
        await expectContinued();
        expect(await page.locator(`nav[aria-label="${main}"]`).count()).toBe(1);
      });
    },
  );
});

describe.skipIf(!ready)('the frame in the HTML', () => {
  test('leads to other pages before the scripts arrive', async () => {
    await inLateTab(house.stage, WIDE, async ({ page, open, release }) => {
      await open('/keys');
      await page.getByRole('link', { name: 'Usage' }).click();
      await page.waitForURL('**/usage', { waitUntil: 'commit' });
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      await release();
      await page.getByRole('table', { name: 'Requests' }).waitFor();
    });
  });

  test('is replaced by sign-in if the session has ended', async () => {
    await inLateTab(house.stage, WIDE, async ({ page, open, release }) => {
      await page.route('**/graphql', async (route) => {
        house.stage.fake.state.signedIn = false;
        await route.continue();
      });
      await open('/usage');
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      await release();
      await page.waitForURL('**/sign-in?next=%2Fusage');
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    });
  });

  test('of administrators is replaced by "Page not found" for other users', async () => {
    await inLateTab(house.stage, WIDE, async ({ page, open, release }) => {
      await open('/admin/overview');
      await release();
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    });
  });
});

describe.skipIf(!ready)('the HTML of a signed-in page', () => {
  test('is hidden until the scripts arrive if another language was chosen on this device', async () => {
    await inLateTab(house.stage, WIDE, async ({ page, open, release }) => {
      await page.addInitScript(() => localStorage.setItem('language', 'zh-CN'));
      await open('/usage');
      expect(await page.locator('h1').isVisible()).toBe(false);
      await release();
      await page.getByRole('heading', { level: 1, name: '用量' }).waitFor();
    });
  });

  test('is continued if the service fails, and the page offers to try again', async () => {
    await inLateTab(house.stage, WIDE, async ({ page, open, release }) => {
      house.stage.fake.state.broken = true;
      await open('/usage');
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      await release();
      const retry = page.getByRole('button', { name: 'Retry' });
      await retry.waitFor();
      house.stage.fake.state.broken = false;
      await retry.click();
      await page.getByRole('table', { name: 'Requests' }).waitFor();
    });
  });
});
