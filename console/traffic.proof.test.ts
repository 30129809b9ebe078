/** Charts of upstreams and nodes, names beside ids, and filters by choice on administrators' pages. */
import type { Locator, Page } from 'playwright-core';
import { afterEach, describe, expect, test } from 'vitest';
import { drawn, overflow, ready, violations } from './test/browser.ts';
import { hasFocus, houseOfTests, press, typeAndChoose } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;
const HOURS = 24;
/** The script of the charts. */
const CHARTS = /traffic-charts/;

/** Waits until the control has the focus. */
const focused = (control: Locator) => expect.poll(() => hasFocus(control)).toBe(true);

/** Scrolls to the end of the page, where charts load once they are seen. */
const toEnd = (page: Page) => page.evaluate(() => scrollTo(0, document.body.scrollHeight));

describe.skipIf(!ready)('the traffic of nodes', () => {
  test('is drawn by hour, and a chosen node and bar change the figures, by keyboard alone', async () => {
    await visit('/admin/nodes', async (page) => {
      await press(page, page.getByRole('button', { name: 'Show charts' }));
      await expect.poll(() => page.evaluate(() => document.activeElement !== document.body)).toBe(true);
      const chart = page.getByRole('region', { name: 'Traffic of nodes' });
      const bars = chart.getByRole('group', { name: 'Usage over time' }).getByRole('button');
      await expect.poll(() => bars.count()).toBe(HOURS);
      const table = chart.getByRole('table', { name: 'Traffic of each node' });
      await expect.poll(() => table.getByRole('row').count()).toBe(4);
      await press(page, bars.last());
      await expect.poll(() => bars.last().getAttribute('aria-pressed')).toBe('true');
      await press(page, chart.getByRole('button', { name: /^Node\s?Any$/ }));
      await press(page, page.getByRole('menuitemradio', { name: 'eu-2' }));
      await expect.poll(() => table.getByRole('row').count()).toBe(2);
      expect(page.url()).toContain('of=nod_eu-2');
      expect(await violations(page)).toEqual([]);
    });
  });

  test('is shown as percentiles of times, in every width without overflow', async () => {
    await visit('/admin/health', async (page) => {
      await toEnd(page);
      const chart = page.getByRole('region', { name: 'Requests of all nodes' });
      await chart.getByRole('radio', { name: 'Duration' }).check({ force: true });
      await chart.getByText('Median (p50)').waitFor();
      for (const width of [1440, 1024, 390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        expect(await overflow(page)).toBe(0);
      }
      expect(await violations(page)).toEqual([]);
    });
  });
});

describe.skipIf(!ready)('the traffic of an upstream', () => {
  test('is on its page, and its name in the list of all leads there', async () => {
    await visit('/admin/upstreams', async (page) => {
      await page.getByRole('button', { name: 'Show charts' }).click();
      const chart = page.getByRole('region', { name: 'Traffic of upstreams' });
      await chart.getByRole('link', { name: 'north-eu' }).click();
      await page.getByRole('heading', { name: 'Credentials' }).first().waitFor();
      await toEnd(page);
      const own = page.getByRole('region', { name: 'Traffic', exact: true });
      await own.getByText('Failure rate').first().waitFor();
      await own.getByText('48, $0.525').first().waitFor();
      await own.getByText('6 without a known cost').first().waitFor();
      const models = page.getByRole('region', { name: 'Extra requests by model' });
      await models.getByText('72, $0.7875').waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });
});

/** Answers requests for the script of the charts only after `release`. `asked` resolves at the first one. */
async function holdCharts(page: Page): Promise<{ asked: Promise<void>; release: () => void }> {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  await page.route(CHARTS, async (route) => {
    asked.resolve();
    await gate.promise;
    await route.continue();
  });
  return { asked: asked.promise, release: gate.resolve };
}

const heightOf = (page: Page) => page.evaluate(() => document.documentElement.scrollHeight);

describe.skipIf(!ready)('while the scripts of the charts load', () => {
  afterEach(() => house.tab.page.unroute(CHARTS));

  test('a page that loads them when they are seen keeps its height', async () => {
    await visit('/admin/upstreams/prv_north-eu', async (page) => {
      const { asked, release } = await holdCharts(page);
      const before = await heightOf(page);
      await toEnd(page);
      await asked;
      await drawn(page);
      const meanwhile = await heightOf(page);
      release();
      await page.getByText('Failure rate').first().waitFor();
      expect(meanwhile).toBe(before);
    });
  });

  test('a page that was asked for them shows their title and that they load', async () => {
    await visit('/admin/nodes', async (page) => {
      const { asked, release } = await holdCharts(page);
      await page.getByRole('button', { name: 'Show charts' }).click();
      await asked;
      await page.getByRole('region', { name: 'Traffic of nodes' }).getByRole('status').waitFor();
      release();
      await page.getByRole('group', { name: 'Usage over time' }).waitFor();
    });
  });
});

describe.skipIf(!ready)('the ledger of administrators', () => {
  test('names the owner of each entry, and is filtered by a user who is found by address', async () => {
    await visit('/admin/ledger', async (page) => {
      await page.getByRole('link', { name: 'mara@lindgren.dev' }).first().waitFor();
      await page.getByRole('combobox', { name: 'User, by email address' }).fill('mara@lindgren.dev');
      await page.getByRole('button', { name: /^User\s?mara@lindgren.dev$/ }).waitFor();
      expect(page.url()).toContain('search=usr_admin_1');
      expect(await violations(page)).toEqual([]);
    });
  });

  test('keeps the focus at the filter when a user is chosen, and when the filter is removed', async () => {
    await visit('/admin/ledger', async (page) => {
      await page.getByRole('combobox', { name: 'User, by email address' }).focus();
      await page.keyboard.type('mara@lindgren.dev');
      const chosen = page.getByRole('button', { name: /^User\s?mara@lindgren.dev$/ });
      await focused(chosen);
      await page.keyboard.press('Tab');
      await focused(page.getByRole('button', { name: 'Remove the filter User' }));
      await page.keyboard.press('Enter');
      await focused(page.getByRole('combobox', { name: 'User, by email address' }));
    });
  });
});

describe.skipIf(!ready)('the audit log of administrators', () => {
  test('is filtered by an action, an actor and an object that are chosen by name', async () => {
    await visit('/admin/audit', async (page) => {
      await press(page, page.getByRole('button', { name: /^Action\s?Any$/ }));
      const search = page.getByRole('combobox', { name: 'Action' });
      await typeAndChoose(search, 'wallet.adjust', /^Wallet adjusted/);
      await page.waitForURL(/action=wallet\.adjust/);
      await focused(page.getByRole('button', { name: /^Action\s?Wallet adjusted$/ }));
      await page.getByRole('combobox', { name: 'Actor, by email address or name' }).focus();
      await page.keyboard.type('the gateway');
      await page.getByRole('button', { name: /^Actor\s?the gateway$/ }).waitFor();
      expect(page.url()).toContain('actor=SYSTEM');
      await page.getByRole('combobox', { name: 'Object, by name or id' }).focus();
      await page.keyboard.type('north-eu (upstream)');
      await page.getByRole('button', { name: /^Object\s?north-eu$/ }).waitFor();
      expect(page.url()).toContain('search=prv_north-eu');
      expect(await violations(page)).toEqual([]);
    });
  });

  test('shows only the events of an object after a press of the button beside it', async () => {
    await visit('/admin/audit', async (page) => {
      const only = page.getByRole('button', { name: 'Only events of north-eu' }).first();
      await press(page, only);
      await page.getByRole('button', { name: /^Object\s?north-eu$/ }).waitFor();
      await focused(only);
      await page.keyboard.press('Enter');
      await page.getByRole('combobox', { name: 'Object, by name or id' }).waitFor();
    });
  });
});

describe.skipIf(!ready)('the overview of administrators', () => {
  test('has latency and nodes, and its chart shows each measure', async () => {
    await visit('/admin/overview', async (page) => {
      await page.getByText('Duration, p95').waitFor();
      await page.getByText('18.2 requests/s, 41 in flight').waitFor();
      for (const name of [
        'Requests',
        'Tokens',
        'Failures',
        'Failure rate',
        'Time to first token',
        'Duration',
      ]) {
        await page.getByRole('radio', { name, exact: true }).check({ force: true });
        await page
          .getByRole('group')
          .filter({ has: page.locator('button[aria-pressed]') })
          .first()
          .waitFor();
      }
      expect(await violations(page)).toEqual([]);
    });
  });
});
