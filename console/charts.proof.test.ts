/** The charts of the usage page in a real browser: drawn to scale, moved by keys, and the same as a table. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { overflow, ready, violations } from './test/browser.ts';
import { houseOfTests, press, type Visit } from './test/visit.ts';

const DAYS = 14;
const CHARTS = '[aria-label="Charts"]';
const PARTS = `${CHARTS} svg rect`;
const SWATCHES = `${CHARTS} [class*="bg-s"][aria-hidden]`;

const house = houseOfTests();
const { visit } = house;
/** The same, once the chart is drawn. */
const visitChart: Visit = (where, steps) =>
  visit(where, async (page) => {
    await page.locator(PARTS).first().waitFor();
    await steps(page);
  });

function barsOf(page: Page): Locator {
  return page.getByRole('group', { name: 'Usage over time' }).getByRole('button');
}

/** The words of each bar: "21 Nov: $29.92, requests: 136" (a day, its cost, its requests). */
async function barTextsOf(page: Page): Promise<{ day: string; cost: string; requests: string }[]> {
  const words = await barsOf(page).evaluateAll((bars) => bars.map((bar) => bar.ariaLabel ?? ''));
  return words.map((word) => {
    const [, day = '', cost = '', requests = ''] = /^(.+): (\$[\d.,]+), requests: (\d+)$/.exec(word) ?? [];
    return { day, cost, requests };
  });
}

interface Part {
  x: number;
  top: number;
  height: number;
}

/** The parts of the drawn bars, bar by bar from the left, the lowest part first. */
async function drawnOn(page: Page): Promise<Part[][]> {
  const parts = await page.locator(PARTS).evaluateAll((all) =>
    all.map((one) => {
      const at = (name: string): number => Number(one.getAttribute(name));
      return { x: at('x'), top: at('y'), height: at('height') };
    }),
  );
  const bars = [...new Set(parts.map(({ x }) => x))].toSorted((a, b) => a - b);
  return bars.map((x) => parts.filter((part) => part.x === x).toSorted((a, b) => b.top - a.top));
}

const lowestEdge = (bar: readonly Part[]): number => (bar[0]?.top ?? 0) + (bar[0]?.height ?? 0);
const heightOf = (bar: readonly Part[]): number => lowestEdge(bar) - (bar.at(-1)?.top ?? 0);

describe.skipIf(!ready)('the bars', () => {
  test.each(['cost', 'requests'] as const)(
    'are as high as the %s of their days, to the pixel',
    async (measure) => {
      await visitChart(`/usage?measure=${measure}`, async (page) => {
        const amounts = (await barTextsOf(page)).map((text) => Number(text[measure].replaceAll(/[$,]/g, '')));
        const bars = await drawnOn(page);
        expect(amounts).toHaveLength(DAYS);
        expect(bars).toHaveLength(DAYS);
        expect(new Set(amounts).size).toBeGreaterThan(1);
        const highest = Math.max(...amounts);
        const scale = heightOf(bars[amounts.indexOf(highest)] ?? []) / highest;
        bars.forEach((bar, index) => {
          // Parts are rounded one by one in the sample's answers, and edges to pixels.
          expect(Math.abs(heightOf(bar) - (amounts[index] ?? 0) * scale)).toBeLessThanOrEqual(2);
          expect(lowestEdge(bar)).toBe(lowestEdge(bars[0] ?? []));
        });
      });
    },
  );

  test('are stacked from the largest share up, a pixel apart, and in the order of the legend', async () => {
    await visitChart('/usage', async (page) => {
      const legend = () =>
        page
          .locator(SWATCHES)
          .evaluateAll((swatches) => swatches.map((swatch) => getComputedStyle(swatch).backgroundColor));
      const fills = () =>
        page
          .locator(PARTS)
          .evaluateAll((parts) => [...new Set(parts.map((part) => getComputedStyle(part).fill))]);
      await expect.poll(legend).toHaveLength(8);
      await expect.poll(fills).toEqual(await legend());
      const [bar = []] = await drawnOn(page);
      const heights = bar.map(({ height }) => height);
      expect(heights).toEqual(heights.toSorted((a, b) => b - a));
      bar.slice(1).forEach(({ top, height }, place) => {
        const gap = (bar[place]?.top ?? 0) - (top + height);
        expect(gap).toBeGreaterThanOrEqual(0);
        expect(gap).toBeLessThanOrEqual(1);
      });
    });
  });
});

describe.skipIf(!ready)('the legend', () => {
  test('lists the remaining models when their line is opened, and not for a selected day', async () => {
    await visitChart('/usage', async (page) => {
      const others = page.getByRole('button', { name: '3 others' });
      expect(await page.getByText('flagship-mini').count()).toBe(0);
      await press(page, others);
      await expect.poll(() => others.getAttribute('aria-expanded')).toBe('true');
      await page.locator('dt', { hasText: 'flagship-mini' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await press(page, barsOf(page).last());
      await page.waitForURL(/day=/);
      await page.locator('dt', { hasText: '3 others' }).waitFor();
      await expect.poll(() => others.count()).toBe(0);
      expect(await page.locator('dt', { hasText: 'flagship-mini' }).count()).toBe(0);
    });
  });
});

describe.skipIf(!ready)('the bars of a resized window', () => {
  test('stand under their buttons, in a window of any width', async () => {
    await visitChart('/usage?days=30', async (page) => {
      for (const width of [1280, 700, 360, 320]) {
        await page.setViewportSize({ width, height: 800 });
        const chart = page.getByRole('group', { name: 'Usage over time' });
        await expect
          .poll(async () => {
            const boxes = await barsOf(page).evaluateAll((all) =>
              all.map((one) => one.getBoundingClientRect().x + one.getBoundingClientRect().width / 2),
            );
            const parts = await page
              .locator(PARTS)
              .evaluateAll((all) =>
                all.map((one) => one.getBoundingClientRect().x + one.getBoundingClientRect().width / 2),
              );
            const off = parts.map((part) => Math.min(...boxes.map((box) => Math.abs(box - part))));
            return boxes.length === 30 && parts.length > 0 && Math.max(...off) <= 1;
          })
          .toBe(true);
        expect(await chart.isVisible()).toBe(true);
        expect(await overflow(page)).toBe(0);
      }
    });
  });
});

describe.skipIf(!ready)('by keyboard', () => {
  test('arrows, Home and End move, Tab stops at one bar, Enter sets or removes the filter', async () => {
    await visitChart('/usage', async (page) => {
      const bars = barsOf(page);
      const focused = (index: number) =>
        expect.poll(() => bars.nth(index).evaluate((bar) => bar === document.activeElement)).toBe(true);
      const stops = () => bars.evaluateAll((all) => all.map(({ tabIndex }) => tabIndex));
      expect(await stops()).toEqual([...Array.from({ length: DAYS - 1 }, () => -1), 0]);
      await bars.last().focus();
      await page.keyboard.press('ArrowRight');
      await focused(DAYS - 1);
      await page.keyboard.press('Home');
      await focused(0);
      await page.keyboard.press('ArrowLeft');
      await focused(0);
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowLeft');
      await focused(DAYS - 2);
      expect((await stops()).indexOf(0)).toBe(DAYS - 2);
      expect((await stops()).filter((stop) => stop === 0)).toHaveLength(1);
      const [day = ''] = ((await bars.nth(DAYS - 2).getAttribute('aria-label')) ?? '').split(':');
      await page.keyboard.press('Enter');
      await page.waitForURL(/[?&]day=\d{4}-\d\d-\d\d/);
      await page.getByRole('heading', { name: `Requests on ${day}` }).waitFor();
      await expect.poll(() => bars.nth(DAYS - 2).getAttribute('aria-pressed')).toBe('true');
      expect(await page.locator('button[aria-pressed="true"]').count()).toBe(1);
      await page.keyboard.press('Enter');
      await page.waitForURL((url) => !url.searchParams.has('day'));
      await expect.poll(() => bars.nth(DAYS - 2).getAttribute('aria-pressed')).toBe('false');
    });
  });

  test('Tab reaches the chart also if no bar is the day in the address', async () => {
    await visitChart('/usage?day=2001-01-01', async (page) => {
      const stops = await barsOf(page).evaluateAll((all) => all.map(({ tabIndex }) => tabIndex));
      expect(stops.filter((stop) => stop === 0)).toHaveLength(1);
    });
  });
});

describe.skipIf(!ready)('for users who do not see the bars', () => {
  test('"Show as table" shows the same days, requests and costs', async () => {
    await visitChart('/usage', async (page) => {
      const texts = await barTextsOf(page);
      expect(texts).toHaveLength(DAYS);
      await press(page, page.getByRole('button', { name: 'Show as table' }));
      const table = page.getByRole('table', { name: 'Usage over time' });
      await table.waitFor();
      const rows = await table
        .locator('tbody tr')
        .evaluateAll((all) =>
          all.map((row) => [...row.querySelectorAll('td, th')].map((cell) => cell.textContent.trim())),
        );
      const listed = rows.map(([day = '', requests = '', , cost = '']) => ({ day, cost, requests }));
      expect(listed.toReversed()).toEqual(texts);
      expect(await barsOf(page).count()).toBe(0);
      await press(page, page.getByRole('button', { name: 'Show as chart' }));
      await expect.poll(() => barsOf(page).count()).toBe(DAYS);
    });
  });
});

describe.skipIf(!ready)('for screen readers and forced colours', () => {
  test('the drawing is hidden, and the chart with a picked day is accessible in both themes', async () => {
    await visitChart('/usage?days=7', async (page) => {
      await press(page, barsOf(page).last());
      await page.waitForURL(/day=/);
      await expect.poll(() => barsOf(page).last().getAttribute('aria-pressed')).toBe('true');
      expect(await page.locator(`${CHARTS} svg:not([aria-hidden="true"])`).count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await violations(page, true)).toEqual([]);
    });
  });

  test('forced colours separate and name the series, and patterns distinguish them', async () => {
    await visitChart('/usage', async (page) => {
      const part = page.locator(PARTS).first();
      const looks = () =>
        part.evaluate((one) => ({ fill: getComputedStyle(one).fill, edge: getComputedStyle(one).stroke }));
      const swatch = () =>
        page
          .locator(SWATCHES)
          .first()
          .evaluate((one) => getComputedStyle(one).backgroundColor);
      const usual = await looks();
      expect(usual.edge).toBe('none');
      await page.emulateMedia({ forcedColors: 'active' });
      const forced = await looks();
      const seen = await swatch();
      await page.emulateMedia({ forcedColors: 'none' });
      expect(forced.edge).not.toBe('none');
      expect([forced.fill, seen]).toEqual([usual.fill, usual.fill]);
    });
  });
});

describe.skipIf(!ready)('the drawing', () => {
  test('is loaded after its page, and moves nothing when it appears', async () => {
    await visit('/keys', async (page) => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route(/\/bar-plot-[^/]*\.js$/, async (route) => {
        await held;
        await route.continue();
      });
      await page.getByRole('link', { name: 'Usage', exact: true }).click();
      const log = page.getByRole('heading', { name: 'Requests', exact: true });
      await log.waitFor();
      await page.getByRole('button', { name: 'Show as table' }).waitFor();
      expect(await barsOf(page).count()).toBe(0);
      const before = await log.boundingBox();
      release();
      await expect.poll(async () => (await drawnOn(page)).length).toBe(DAYS);
      expect(await log.boundingBox()).toEqual(before);
      await page.unroute(/\/bar-plot-[^/]*\.js$/);
    });
  });

  test.each(['/keys', '/wallet', '/pricing'])('is not loaded on %s', async (where) => {
    await visit(where, async (page) => {
      const files = await page.evaluate(() =>
        performance.getEntriesByType('resource').map(({ name }) => name),
      );
      expect(files.filter((name) => name.endsWith('.js')).length).toBeGreaterThan(0);
      expect(files.filter((name) => /\/bar-plot-/.test(name))).toEqual([]);
    });
  });
});

describe.skipIf(!ready)('the chart of times', () => {
  test('names p50, p95 and p99 of each bar, and shows those of a selected bar in the legend', async () => {
    await visitChart('/usage?measure=duration', async (page) => {
      const names = await barsOf(page).evaluateAll((bars) => bars.map((bar) => bar.ariaLabel ?? ''));
      expect(names).toHaveLength(DAYS);
      for (const name of names) expect(name).toMatch(/^.+: p50 [\d.]+ m?s, p95 [\d.]+ m?s, p99 [\d.]+ m?s$/);
      await barsOf(page).first().click();
      const [, p95 = ''] = /p95 ([\d.]+ m?s)/.exec(names[0] ?? '') ?? [];
      await page.locator('dd', { hasText: p95 }).first().waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Show as table' }).click();
      await page.getByRole('columnheader', { name: 'p99' }).waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });

  test('never shows a time of zero seconds', async () => {
    await visitChart('/usage?measure=ttft', async (page) => {
      expect(await page.locator(CHARTS).innerText()).not.toMatch(/(^|\s)0(\.0)? s\b/);
    });
  });
});
