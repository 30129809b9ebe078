/**
 * Measures when a visitor with an empty cache sees a page: a real browser, a real control plane and a real
 * database.
 */
/// <reference lib="dom" />
import type { Browser } from 'playwright-core';

const VIEW = { width: 1280, height: 800 };

/** One cold load; times in ms since the navigation began. */
export interface Paint {
  firstMs: number;
  largestMs: number;
  /** The first characters of the largest element. */
  largest: string;
  /** Cumulative layout shift, without a unit. */
  shift: number;
  /** The longest task of the page's main thread, in ms. */
  longestTaskMs: number;
  /** Transferred bytes of all files. */
  bytes: number;
}

/** Loads a URL with an empty cache, and waits for the selector `shown` and for an idle network. */
export async function paintOf(browser: Browser, url: string, shown: string): Promise<Paint> {
  const context = await browser.newContext({ viewport: VIEW });
  try {
    const page = await context.newPage();
    await page.goto(url);
    await page.locator(shown).first().waitFor();
    await page.waitForLoadState('networkidle');
    return await page.evaluate(observed);
  } finally {
    await context.close();
  }
}

/** Runs in the page. Returns the measurements of the browser since the navigation began. */
async function observed(): Promise<Paint> {
  const noted = (type: string): Promise<PerformanceEntry[]> =>
    new Promise((resolve) => {
      const observer = new PerformanceObserver((list) => {
        resolve(list.getEntries());
      });
      observer.observe({ type, buffered: true });
      // Without an entry of this type, the observer is never called.
      setTimeout(() => {
        resolve([]);
      }, 300);
    });
  const largest = (await noted('largest-contentful-paint')).at(-1);
  const shifts = await noted('layout-shift');
  const tasks = await noted('longtask');
  const files = performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'));
  const element = largest && 'element' in largest && largest.element instanceof Element && largest.element;
  return {
    firstMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    largestMs: largest?.startTime ?? Number.NaN,
    largest: element ? (element.textContent ?? '').slice(0, 40) : '',
    shift: shifts.reduce((sum, entry) => sum + ('value' in entry ? Number(entry.value) : 0), 0),
    longestTaskMs: Math.max(0, ...tasks.map(({ duration }) => duration)),
    bytes: files.reduce((sum, file) => sum + ('transferSize' in file ? Number(file.transferSize) : 0), 0),
  };
}
