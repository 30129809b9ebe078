/**
 * Measures how long a page needs to show the effect of an interaction (INP), with a CPU that is four times
 * slower: the time from an input event to the next frame, as the browser reports it.
 */
/// <reference lib="dom" />
import type { Browser, Page } from 'playwright-core';
import { openPage, quiet } from './first-paint.ts';

/** The slowest interaction of one kind. */
export interface Interaction {
  name: string;
  /** From the event to the next frame, in ms; the browser rounds it to 8 ms. */
  slowestMs: number;
  /** How many interactions the browser reported. */
  count: number;
}

/** Interactions of a page. */
interface Kind {
  name: string;
  path: string;
  /** The selector of an element that shows the page's data. */
  shown: string;
  interact(page: Page): Promise<unknown>;
}

/** The browser measures the next frame after the last event within this time, in ms. */
const AFTER_MS = 2_500;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first();

/** The interactions that change most of a page. */
export const KINDS: readonly Kind[] = [
  {
    name: 'order of a table, /admin/models',
    path: '/admin/models',
    shown: 'tbody tr',
    interact: (page) => page.getByRole('columnheader', { name: 'Model' }).getByRole('button').click(),
  },
  {
    name: 'order of the keys',
    path: '/keys',
    shown: 'tbody tr',
    interact: (page) => page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click(),
  },
  {
    name: 'drawer of a new key',
    path: '/keys',
    shown: 'tbody tr',
    interact: (page) => button(page, 'Create key').click(),
  },
  {
    name: 'palette, opened and searched',
    path: '/keys',
    shown: 'tbody tr',
    interact: async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('combobox').waitFor();
      await page.keyboard.type('usage of', { delay: 60 });
    },
  },
  {
    name: 'receipt of a request',
    path: '/usage',
    shown: 'tbody tr',
    interact: (page) => page.locator('tbody a[href*="receipt"]').first().click(),
  },
  {
    name: 'range of the charts',
    path: '/usage',
    shown: 'svg rect',
    interact: (page) => page.getByText('30 days', { exact: true }).click(),
  },
  {
    name: 'measure of the charts',
    path: '/usage',
    shown: 'svg rect',
    interact: (page) => page.getByText('Requests', { exact: true }).first().click(),
  },
  {
    name: 'typing in the Playground',
    path: '/playground',
    shown: 'textarea',
    interact: async (page) => {
      await page.locator('textarea').focus();
      await page.keyboard.type('Write a plan for the next three weeks.', { delay: 40 });
    },
  },
];

/** Performs one kind of interaction on a page of its own. */
export async function measure(browser: Browser, kind: Kind, to: Target): Promise<Interaction> {
  const page = await openPage(browser, { url: `${to.url}${kind.path}`, cookie: to.cookie });
  try {
    await page.locator(kind.shown).first().waitFor({ state: 'attached' });
    await quiet(page);
    const session = await page.context().newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await page.evaluate(watch);
    await kind.interact(page);
    await page.waitForTimeout(AFTER_MS);
    const durations = await page.evaluate(() => window.durations);
    return { name: kind.name, slowestMs: Math.max(0, ...durations), count: durations.length };
  } finally {
    await page.context().close();
  }
}

/** The service, and the session of its user. */
interface Target {
  url: string;
  cookie: string;
}

declare global {
  interface Window {
    /** Durations of the page's interactions in ms. */
    durations: number[];
  }
}

/** Runs in the page: notes the duration of every interaction. */
function watch(): void {
  window.durations = [];
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (entry instanceof PerformanceEventTiming && entry.interactionId > 0)
        window.durations.push(entry.duration);
  });
  const settings: PerformanceObserverInit & { durationThreshold: number } = {
    type: 'event',
    durationThreshold: 16,
  };
  observer.observe(settings);
}
