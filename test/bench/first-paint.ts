/**
 * Measures when somebody with an empty cache sees a page: a real browser, a real control plane and a real
 * database.
 */
/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { slowDown } from './slow-network.ts';

const VIEW = { width: 1280, height: 800 };
/** The longest wait on a machine that does other work. */
const PATIENCE_MS = 120_000;
/** On a slow network, the live parts of a page may ask again and again. */
const QUIET_MS = 15_000;

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
  /** Transferred bytes of the files that arrived before the largest element. */
  bytesBefore: number;
  /** When the last script before the largest element arrived, in ms. */
  scriptsMs: number;
  /** When the answers of the API arrived, in ms. */
  answersMs: readonly number[];
}

/** A page, and how it is loaded. */
export interface Load {
  url: string;
  /** The selector of an element that shows the page's data. */
  shown: string;
  /** The cookies of who loads it, "name=value; name=value"; empty for a visitor. */
  cookie?: string;
  /** On slow 4G with a CPU that is four times slower. */
  slow?: boolean;
}

/** Opens a page with an empty cache. The caller closes its context. */
export async function openPage(browser: Browser, { url, cookie, slow }: Omit<Load, 'shown'>): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEW, ignoreHTTPSErrors: true });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  if (cookie) await giveCookies(page, url, cookie);
  if (slow) await slowDown(page);
  await page.goto(url);
  return page;
}

/** Gives the browser a session. The prefix of its name forbids a domain, which `addCookies` would set. */
async function giveCookies(page: Page, url: string, cookies: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { origin, protocol } = new URL(url);
  for (const cookie of cookies.split('; ')) {
    const end = cookie.indexOf('=');
    const [name, value] = [cookie.slice(0, end), cookie.slice(end + 1)];
    await session.send('Network.setCookie', { name, value, url: origin, secure: protocol === 'https:' });
  }
}

/** Waits until the page asks for nothing more, or for QUIET_MS. */
export async function quiet(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle', { timeout: QUIET_MS }).catch(() => undefined);
}

/** Loads a page with an empty cache, and waits for its data and for an idle network. */
export async function paintOf(browser: Browser, load: Load): Promise<Paint> {
  const page = await openPage(browser, load);
  try {
    await page.locator(load.shown).first().waitFor({ state: 'attached' });
    await quiet(page);
    return await page.evaluate(observed);
  } finally {
    await page.context().close();
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
  const largestMs = largest?.startTime ?? Number.NaN;
  const shifts = await noted('layout-shift');
  const tasks = await noted('longtask');
  const files = performance
    .getEntries()
    .filter((entry) => entry instanceof PerformanceResourceTiming)
    .map(({ name, responseEnd, transferSize }) => ({ name, responseEnd, transferSize }));
  const endOf = ({ responseEnd }: { responseEnd: number }): number => responseEnd;
  const bytesOf = (some: typeof files): number => some.reduce((sum, file) => sum + file.transferSize, 0);
  const element = largest && 'element' in largest && largest.element instanceof Element && largest.element;
  return {
    firstMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? Number.NaN,
    largestMs,
    largest: element ? (element.textContent ?? '').slice(0, 40) : '',
    shift: shifts.reduce((sum, entry) => sum + ('value' in entry ? Number(entry.value) : 0), 0),
    longestTaskMs: Math.max(0, ...tasks.map(({ duration }) => duration)),
    bytes: bytesOf(files),
    bytesBefore: bytesOf(files.filter(({ responseEnd }) => responseEnd <= largestMs)),
    scriptsMs: Math.max(
      ...files.filter(({ name, responseEnd }) => name.endsWith('.js') && responseEnd <= largestMs).map(endOf),
    ),
    answersMs: files.filter(({ name }) => name.endsWith('/graphql')).map(endOf),
  };
}
