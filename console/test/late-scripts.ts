/** A tab whose scripts arrive late: what the HTML of a page shows before them, and what they do with it. */
/// <reference lib="dom" />
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { openTab, type Stage, type View } from './browser.ts';

/** All scripts but the first, which requests data and notes sent forms. */
const SCRIPTS = /\/assets\/(?!early-)[^/]*\.js$/;
/** Shift of the layout that a page may have until it is complete, as Chromium scores it. */
const SHIFT_MAX = 0.05;

export interface LateTab {
  page: Page;
  open: (where: string) => Promise<void>;
  /** Lets the scripts arrive, and waits until the page is complete. */
  release: () => Promise<void>;
}

/**
 * Runs with a tab whose scripts wait for `release`. `theme.js` does not wait. Fails if the page logs
 * anything.
 */
export async function inLateTab(
  stage: Stage,
  view: View,
  steps: (tab: LateTab) => Promise<void>,
): Promise<void> {
  const tab = await openTab(stage, view);
  const { page } = tab;
  const gate = Promise.withResolvers<void>();
  await page.route(SCRIPTS, async (route) => {
    await gate.promise;
    // The page that asked for the script may be gone.
    await route.continue().catch(() => undefined);
  });
  await page.addInitScript(noteShifts);
  const open = async (where: string) => {
    await page.goto(stage.fake.url + where, { waitUntil: 'commit' });
    await page.locator('#root > *').first().waitFor({ state: 'attached' });
  };
  const release = async () => {
    gate.resolve();
    await page.waitForFunction(isContinued);
    await tab.settled();
  };
  await steps({ page, open, release });
  expect(tab.said).toEqual([]);
  gate.resolve();
  await tab.context.close();
}

/**
 * Checks theme, language and title of the HTML, before the scripts arrive. Returns the check that they
 * continue it: heading and title stay, and nothing moves.
 */
export async function expectFirstView(page: Page, view: View): Promise<() => Promise<void>> {
  const heading = await page.locator('h1').elementHandle();
  const shown = await heading?.innerText();
  expect(await heading?.isVisible()).toBe(true);
  expect(await page.locator('html').getAttribute('data-theme')).toBe(view.theme);
  expect(await page.locator('html').getAttribute('lang')).toBe(view.language ?? 'en');
  const title = await page.title();
  expect(title).toMatch(/^.+ · Gateway$/);
  return async () => {
    expect(await page.title()).toBe(title);
    expect(await heading?.evaluate((element) => element.isConnected)).toBe(true);
    expect(await heading?.innerText()).toBe(shown);
    expect(await shiftOf(page)).toBeLessThan(SHIFT_MAX);
  };
}

/** The sum of the shifts of the layout since the page began. */
async function shiftOf(page: Page): Promise<number> {
  return Number((await page.locator('html').getAttribute('data-shift')) ?? 0);
}

/** Runs in the page: whether React has rendered the heading or a failure, or continues that of the HTML. */
function isContinued(): boolean {
  return Object.keys(document.querySelector('h1, main [role=alert]') ?? {}).some((name) =>
    name.startsWith('__reactFiber'),
  );
}

/** Runs in the page: sums the shifts of the layout in the attribute `data-shift`. */
function noteShifts(): void {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += 'value' in entry ? Number(entry.value) : 0;
    document.documentElement.dataset['shift'] = String(sum);
  }).observe({ type: 'layout-shift', buffered: true });
}
