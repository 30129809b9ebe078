/** Tables: order, columns, pages and actions on several rows, with the keyboard, at all widths. */
import { isDeepStrictEqual } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { overflow, ready } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

const header = (page: Page, name: string) => page.getByRole('columnheader', { name });

async function tick(page: Page, box: Locator): Promise<void> {
  await box.focus();
  await page.keyboard.press('Space');
}

describe.skipIf(!ready)('the order of a table', () => {
  test('changes by keyboard, is announced, and is part of the address', async () => {
    await visit('/keys', async (page) => {
      await press(page, header(page, 'Name').getByRole('button'));
      await page.waitForURL(/sort=name/);
      await page.getByRole('status').filter({ hasText: 'Name, ascending' }).waitFor();
      await expect.poll(() => header(page, 'Name').getAttribute('aria-sort')).toBe('ascending');
      await press(page, header(page, 'Name').getByRole('button'));
      await page.waitForURL(/sort=-name/);
      await page.reload();
      await expect.poll(() => header(page, 'Name').getAttribute('aria-sort')).toBe('descending');
    });
  });

  test('sorts lists that are loaded as a whole', async () => {
    await visit('/admin/models', async (page) => {
      const rows = page.getByRole('table', { name: 'Models' }).getByRole('row');
      const names = async () =>
        (await rows.locator('td:first-child').allTextContents()).map((name) => name.trim());
      const isSorted = async () => {
        const all = await names();
        return isDeepStrictEqual(
          all,
          all.toSorted((one, other) => one.localeCompare(other)),
        );
      };
      await press(page, header(page, 'Model').getByRole('button'));
      await page.waitForURL(/sort=name/);
      await expect.poll(isSorted).toBe(true);
      const sorted = await names();
      await press(page, header(page, 'Model').getByRole('button'));
      await page.waitForURL(/sort=-name/);
      await expect.poll(names).toEqual(sorted.toReversed());
    });
  });
});

describe.skipIf(!ready)('a row', () => {
  test('is the one that its action changes, also if another order is chosen and not drawn yet', async () => {
    await visit('/admin/models', async (page) => {
      const table = page.getByRole('table', { name: 'Models' });
      await table.getByRole('cell').first().waitFor();
      // Both presses in one task: no row is drawn between them.
      const name = await table.evaluate((element) => {
        const menu = element.querySelector<HTMLButtonElement>('[aria-label^="Actions for "]');
        element.querySelector<HTMLButtonElement>('th button')?.click();
        menu?.click();
        return (menu?.ariaLabel ?? '').replace('Actions for ', '');
      });
      await page.waitForURL(/sort=name/);
      await expect.poll(() => table.getByRole('row').nth(1).textContent()).not.toContain(name);
      await page.getByRole('menuitem', { name: 'Edit…' }).click();
      await page.getByRole('dialog', { name: `Edit ${name}`, exact: true }).waitFor();
    });
  });
});

describe.skipIf(!ready)('the choice of columns', () => {
  test('is made by keyboard and kept by the browser', async () => {
    await visit('/usage', async (page) => {
      const table = page.getByRole('table', { name: 'Requests' });
      await table.waitFor();
      expect(await header(page, 'IP').count()).toBe(0);
      await press(page, page.getByRole('button', { name: /^Columns \d+ of \d+$/ }));
      await press(page, page.getByRole('menuitemcheckbox', { name: 'IP' }));
      await page.keyboard.press('Escape');
      await header(page, 'IP').waitFor();
      await page.reload();
      await header(page, 'IP').waitFor();
      await page.evaluate(() => {
        localStorage.removeItem('columns.usage');
      });
    });
  });
});

describe.skipIf(!ready)('a table that is wider than the page', () => {
  test('scrolls inside a region that the keyboard reaches, with its header in view', async () => {
    await visit('/usage', async (page) => {
      await page.setViewportSize({ width: 700, height: 800 });
      const region = page.getByRole('region', { name: 'Table Requests, scrolls sideways' });
      await region.focus();
      await page.getByText('Scroll sideways to see all columns.').waitFor();
      await page.keyboard.press('End');
      await region.evaluate((box) => {
        box.scrollTop = 300;
      });
      const topOf = async (part: Locator) => (await part.boundingBox())?.y ?? Number.NaN;
      const below = async () => Math.abs((await topOf(header(page, 'Time'))) - (await topOf(region)));
      await expect.poll(below).toBeLessThanOrEqual(2);
      expect(await overflow(page)).toBe(0);
    });
  });

  test('keeps its header below the bar of the page if it fits', async () => {
    await visit('/admin/users', async (page) => {
      await page.setViewportSize({ width: 1440, height: 300 });
      await page.getByRole('table', { name: 'Users' }).getByRole('cell').first().waitFor();
      const topOfHeader = async () => (await header(page, 'User').boundingBox())?.y ?? Number.NaN;
      const bar = (await page.getByRole('banner').boundingBox())?.height ?? Number.NaN;
      const first = await topOfHeader();
      const far = first + 40;
      await page.mouse.wheel(0, far);
      // Without the bar's height, the header would have left the window.
      await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThanOrEqual(far);
      await expect.poll(async () => Math.abs((await topOfHeader()) - bar)).toBeLessThanOrEqual(2);
    });
  });
});

describe.skipIf(!ready)('in a window of 1024 px', () => {
  /** By how many pixels the table is wider than its place. */
  const excess = (table: Locator) =>
    table.evaluate((it) => it.scrollWidth - (it.parentElement?.clientWidth ?? 0));

  test.each([
    ['/keys', 'Keys', 8],
    ['/admin/nodes', 'Nodes', 7],
  ])('the table of %s shows all columns, also if keys have long values', async (where, name, columns) => {
    for (const key of house.stage.fake.state.keys.slice(0, 2))
      Object.assign(key, {
        ...{ state: 'DISABLED', disabledReason: 'ADMIN' },
        ...{ name: 'Nightly batch of the second region', lastUsedIp: '2001:db8:85a3:8d3:1319:8a2e:370:7348' },
      });
    await visit(where, async (page) => {
      await page.setViewportSize({ width: 1024, height: 800 });
      const table = page.getByRole('table', { name, exact: true });
      await table.getByRole('cell').first().waitFor();
      expect(await table.getByRole('columnheader').count()).toBe(columns);
      await expect.poll(() => excess(table)).toBeLessThanOrEqual(0);
    });
  });

  test('the table of keys shows the whole last address of a key', async () => {
    const address = '2001:db8:85a3:8d3:1319:8a2e:370:7348';
    Object.assign(house.stage.fake.state.keys[0] ?? {}, { lastUsedIp: address });
    await visit('/keys', async (page) => {
      await page.setViewportSize({ width: 1024, height: 800 });
      const place = page.getByText(address).locator('..');
      await expect.poll(() => place.evaluate((it) => it.scrollWidth - it.clientWidth)).toBeLessThanOrEqual(0);
    });
  });
});

describe.skipIf(!ready)('actions on several rows', () => {
  test('disable the chosen keys', async () => {
    await visit('/keys', async (page) => {
      await tick(page, page.getByRole('checkbox', { name: 'Choose Production API' }));
      await page.getByRole('status').filter({ hasText: '1 chosen' }).waitFor();
      await press(
        page,
        page.getByRole('region', { name: 'Actions on chosen rows' }).getByRole('button', { name: 'Disable' }),
      );
      const dialog = page.getByRole('dialog', { name: 'Disable 1 key' });
      await press(page, dialog.getByRole('button', { name: 'Disable' }));
      await dialog.waitFor({ state: 'detached' });
      expect(house.stage.fake.state.keys.find(({ name }) => name === 'Production API')?.state).toBe(
        'DISABLED',
      );
      await expect.poll(() => page.getByRole('checkbox', { checked: true }).count()).toBe(0);
    });
  });

  test('ask for a reason before they suspend users, and name each user who was not suspended', async () => {
    await visit('/admin/users', async (page) => {
      await tick(page, page.getByRole('checkbox', { name: 'Choose all rows of this page' }));
      await press(page, page.getByRole('button', { name: 'Suspend' }));
      const dialog = page.getByRole('dialog', { name: /^Suspend \d+ users$/ });
      await dialog.getByLabel('Reason').fill('abuse');
      await press(page, dialog.getByRole('button', { name: 'Suspend' }));
      await dialog.getByText(/^\d+ of \d+ need attention/).waitFor();
      const users = await page.getByRole('checkbox', { name: /^Choose .*@/, includeHidden: true }).count();
      expect(await dialog.getByRole('alert').getByRole('listitem').count()).toBe(users);
    });
  });
});

describe.skipIf(!ready)('a card of a table', () => {
  test('shows the columns that a phone has no room for, with their headers', async () => {
    await visit('/admin/users', async (page) => {
      await page.setViewportSize({ width: 390, height: 800 });
      const card = page.getByRole('listitem').filter({ hasText: 'mara@lindgren.dev' });
      await card.getByRole('term').filter({ hasText: 'Allowed groups' }).waitFor();
      await card.getByRole('definition').filter({ hasText: 'default, vip' }).waitFor();
      await card.getByRole('term').filter({ hasText: 'Created' }).waitFor();
    });
  });
});
