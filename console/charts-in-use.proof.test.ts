/** The usage chart: figures of a bar, of a selected bar in the legend, hours, and chosen days. */
import { describe, expect, test } from 'vitest';
import { ready, violations } from './test/browser.ts';
import { houseOfTests } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

describe.skipIf(!ready)('the usage chart', () => {
  test('shows the figures of a bar at the pointer, and those of the selected bar in the legend', async () => {
    await visit('/usage', async (page) => {
      const charts = page.getByRole('region', { name: 'Charts' });
      const bar = charts.getByRole('group', { name: 'Usage over time' }).getByRole('button').nth(10);
      const [title = '', cost = ''] =
        /: (\$[\d.]+),/.exec((await bar.getAttribute('aria-label')) ?? '') ?? [];
      expect(title).not.toBe('');
      await bar.hover();
      await bar.locator('..').getByText('coder', { exact: true }).waitFor();
      await bar.click();
      await charts.locator('dl').getByText(cost, { exact: false }).first().waitFor();
      await expect.poll(() => charts.locator('dl').textContent()).toContain(cost);
      expect(await violations(page)).toEqual([]);
    });
  });

  test('has a bar for each of the last 24 hours, which selects the requests of its hour', async () => {
    await visit('/usage', async (page) => {
      await page.getByText('24 hours', { exact: true }).click();
      const bars = page.getByRole('group', { name: 'Usage over time' }).getByRole('button');
      await expect.poll(() => bars.count()).toBe(24);
      await bars.nth(20).click();
      await page.getByRole('heading', { name: /^Requests on .+, \d\d:00$/ }).waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });

  test('shows chosen days, tokens and failures', async () => {
    await visit('/usage?from=2026-11-02&to=2026-11-08&measure=tokens', async (page) => {
      const bars = page.getByRole('group', { name: 'Usage over time' }).getByRole('button');
      await expect.poll(() => bars.count()).toBe(7);
      await page.getByLabel('Last day').fill('2026-11-03');
      await expect.poll(() => bars.count()).toBe(48);
      await page.getByText('Failures', { exact: true }).click();
      await page.getByText('Failure rate').first().waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });
});

describe.skipIf(!ready)('the chart of the overview', () => {
  test('has a legend with each colour of its bars', async () => {
    await visit('/admin/overview', async (page) => {
      const parts = page.locator('main svg rect');
      await parts.first().waitFor();
      const fills = new Set(await parts.evaluateAll((all) => all.map((part) => part.getAttribute('fill'))));
      const swatches = page.locator('main dl [class*="bg-s"][aria-hidden]');
      await expect.poll(() => swatches.count()).toBeGreaterThanOrEqual(fills.size);
      expect(await violations(page)).toEqual([]);
    });
  });
});
