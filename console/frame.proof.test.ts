/** The frame around the pages, in a real browser: navigation, notices, palette, menus. */
import type { Page, Request } from 'playwright-core';
import { afterEach, describe, expect, test } from 'vitest';
import { ready, violations } from './test/browser.ts';
import { houseOfTests, press, typeAndChoose } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

describe.skipIf(!ready)('a signed-in user', () => {
  test('also sees the navigation of the console on public pages', async () => {
    await visit('/keys', async (page) => {
      await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Pricing' }).click();
      await page.getByRole('heading', { name: 'One price per request' }).waitFor();
      await page.getByRole('link', { name: 'Wallet' }).waitFor();
      expect(await page.getByRole('navigation', { name: 'Main' }).count()).toBe(1);
      expect(await page.getByRole('link', { name: 'Create account' }).count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await violations(page)).toEqual([]);
    });
  });

  test('sees one frame around an unknown address of the console', async () => {
    await visit('/pools/pool_none', async (page) => {
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
      expect(await page.getByRole('banner').count()).toBe(1);
      expect(await page.getByRole('main').count()).toBe(1);
    });
  });
});

const ERROR = { message: 'The service failed.', extensions: { code: 'INTERNAL_SERVER_ERROR' } };
const WHOLLY = { errors: [ERROR] };
// A part of the viewer that may not be null fails: the viewer is null.
const PARTLY = {
  data: { viewer: null, baseAddress: 'https://example.com/v1' },
  errors: [{ ...ERROR, path: ['viewer', 'wallet', 'available'] }],
};
const ANSWERS = [
  ['the query fails', WHOLLY],
  ['a part of the viewer fails', PARTLY],
] as const;
const API = '**/graphql';

/**
 * Queries by which a frame learns who is signed in, the page to open first, and the links to follow. The last
 * step goes back to the page with this table.
 */
const FRAMES = [
  { query: 'Viewer', path: '/usage', table: 'Requests', links: ['Pricing'] },
  { query: 'AdminFrame', path: '/admin/nodes', table: 'Nodes', links: ['Back to the console'] },
  { query: 'Visitor', path: '/usage', table: 'Pricing', links: ['Pricing', 'Usage'] },
] as const;

const CASES = FRAMES.flatMap((frame) => ANSWERS.map(([problem, json]) => ({ ...frame, problem, json })));

const asks = (request: Request, query: string) => request.postData()?.includes(`query ${query}`) ?? false;

/** From now on, the service answers the query with an error. */
const fail = (page: Page, query: string, json: object) =>
  page.route(API, (route) => (asks(route.request(), query) ? route.fulfill({ json }) : route.continue()));

describe.skipIf(!ready)('while the service does not say who is signed in', () => {
  afterEach(() => house.tab.page.unroute(API));

  test.each(ANSWERS)('a page that opens offers to try again if %s', async (_, json) => {
    await fail(house.tab.page, 'Viewer', json);
    await visit('/usage', async (page) => {
      const alert = page.getByRole('alert').filter({ hasText: 'The console cannot reach the gateway' });
      await alert.waitFor();
      await page.unroute(API);
      await alert.getByRole('button', { name: 'Retry' }).click();
      await page.getByRole('table', { name: 'Requests' }).waitFor();
      await page.getByRole('link', { name: /^Available/ }).waitFor();
    });
  });

  test('the frame stays if a part of the viewer fails for the page', async () => {
    await fail(house.tab.page, 'Usage(', PARTLY);
    await visit('/usage', async (page) => {
      await page.getByRole('main').getByRole('button', { name: 'Retry' }).first().waitFor();
      await house.tab.settled();
      expect(await page.getByRole('link', { name: /^Available/ }).count()).toBe(1);
    });
  });
});

describe.skipIf(!ready)('while the service no longer says who is signed in', () => {
  afterEach(() => house.tab.page.unroute(API));

  test.each(CASES)(
    'an open page with $table stays if $problem',
    async ({ path, query, json, table, links }) => {
      await visit(path, async (page) => {
        for (const name of links) {
          await page.getByRole('link', { name, exact: true }).first().click();
          // A query that is running would not be sent again.
          await house.tab.settled();
        }
        await fail(page, query, json);
        const failed = page.waitForResponse((answer) => asks(answer.request(), query));
        await page.goBack();
        await failed;
        await page.getByRole('table', { name: table }).waitFor();
        await house.tab.settled();
        expect(await page.getByRole('link', { name: /^Available|^Back to the console/ }).count()).toBe(1);
        expect(await page.getByRole('link', { name: 'Create account' }).count()).toBe(0);
        expect(await page.getByRole('alert').count()).toBe(0);
      });
    },
  );
});

describe.skipIf(!ready)('a failed search by an administrator', () => {
  afterEach(() => house.tab.page.unroute(API));

  test('leaves the rows of the open page', async () => {
    await visit('/admin/nodes', async (page) => {
      const table = page.getByRole('table', { name: 'Nodes' });
      const rows = await table.getByRole('row').count();
      const errors = [{ ...ERROR, path: ['admin', 'users'] }];
      await fail(page, 'AdminFind', { data: { admin: null }, errors });
      const failed = page.waitForResponse((answer) => asks(answer.request(), 'AdminFind'));
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search or run a command' }).fill('mara');
      await failed;
      await house.tab.settled();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(rows).toBeGreaterThan(1);
      expect(await table.getByRole('row').count()).toBe(rows);
    });
  });
});

describe.skipIf(!ready)('the balance', () => {
  test.each([1280, 390])('is part of the name of its link at %i px', async (width) => {
    await visit('/keys', async (page) => {
      await page.setViewportSize({ width, height: 800 });
      await page
        .getByRole('banner')
        .getByRole('link', { name: /^Available \$\d+\.\d{2}/ })
        .waitFor();
    });
  });
});

describe.skipIf(!ready)('an open menu', () => {
  const MENUS = [
    { where: '/keys', name: 'Actions for Staging' },
    { where: '/usage', name: /^Status Any/ },
    { where: '/wallet', name: 'Export' },
    { where: '/keys', name: 'mara@lindgren.dev' },
    { where: '/admin/models', name: 'Actions for swift' },
  ];

  test.each(MENUS)('on $where, $name, belongs to the page for screen readers', async ({ where, name }) => {
    await visit(where, async (page) => {
      await page
        .getByRole('button', { name, exact: typeof name === 'string' })
        .first()
        .click();
      await page.getByRole('menu').waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });
});

/** Layout shift of the page since it was painted, as Chromium scores it. */
function shifted(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise((resolve) => {
        new PerformanceObserver((list) => {
          resolve(list.getEntries().reduce((sum, entry) => sum + Number(entry.toJSON().value), 0));
        }).observe({ type: 'layout-shift', buffered: true });
        // Without any shift the observer is not called.
        setTimeout(() => resolve(0), 500);
      }),
  );
}

describe.skipIf(!ready)('a pool that ends soon', () => {
  test('moves nothing when its notice appears', async () => {
    await visit('/wallet', async (page) => {
      await page.getByText(/^Orbit ends /).waitFor();
      expect(await shifted(page)).toBeLessThan(0.01);
    });
  });

  test('is announced on every page, and is renewed from there', async () => {
    await visit('/usage', async (page) => {
      await page.getByText(/^Orbit ends /).waitFor();
      expect(await violations(page)).toEqual([]);
      await press(page, page.getByRole('button', { name: 'Renew Orbit' }));
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /^Pay \$/ })
        .click();
      await page.getByText('Orbit renewed').waitFor();
      await page.getByText(/^Orbit ends /).waitFor({ state: 'detached' });
    });
  });
});

describe.skipIf(!ready)('the palette of administrators', () => {
  test('finds their pages, and offers a search of users for other input', async () => {
    await visit('/admin/models', async (page) => {
      await page.getByText('on 2 of 4 nodes').waitFor();
      const search = page.getByRole('combobox', { name: 'Search or run a command' });
      await page.keyboard.press('Control+k');
      await search.waitFor();
      expect(await violations(page)).toEqual([]);
      await typeAndChoose(search, 'audit', /^Audit/);
      await page.waitForURL(/\/admin\/audit$/);
      await search.waitFor({ state: 'detached' });
      await page.keyboard.press('Control+k');
      // A theme has these letters, too, but in no word.
      await typeAndChoose(search, 'mara', /^Users: mara/);
      await page.waitForURL(/\/admin\/users\?search=mara/);
    });
  });
});

describe.skipIf(!ready)('a menu on a phone', () => {
  test('is a sheet at the bottom edge, wherever its button is, and closes on a press outside', async () => {
    await visit('/keys', async (page) => {
      await page.setViewportSize({ width: 360, height: 800 });
      await page.getByRole('button', { name: 'Actions for Codex in CI' }).click();
      const menu = page.getByRole('menu');
      await menu.waitFor();
      const box = await menu.boundingBox();
      expect(box).toMatchObject({ x: 0, width: 360 });
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBe(800);
      expect(await violations(page, true)).toEqual([]);
      await page.mouse.click(180, 20);
      await menu.waitFor({ state: 'detached' });
    });
  });
});
