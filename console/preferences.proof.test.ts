/**
 * Every page, dialog, drawer and menu for people who asked their system for less motion or for other
 * colours. A run takes a part of them, which the seed decides; `PROOF_CASES=all` takes all.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { sliceOf } from '../test/seeds.ts';
import { ready } from './test/browser.ts';
import { PLACES, showPlace } from './test/places.ts';
import { markDrawn, motionOf, ringless, unmarkedChoices, vanished, watchMotion } from './test/preferences.ts';
import { houseOfTests } from './test/visit.ts';

const house = houseOfTests(async ({ tab }) => watchMotion(tab.page));

/** A run takes every n-th place. */
const EVERY = 3;

/** Faults with forced colours: drawings that vanish, choices and focus that nothing shows. */
async function forcedFaults(page: Page): Promise<string[]> {
  await markDrawn(page);
  await page.emulateMedia({ forcedColors: 'active' });
  try {
    const gone = await vanished(page);
    const unmarked = await unmarkedChoices(page);
    await page.keyboard.press('Tab');
    return [
      ...gone.map((part) => `invisible: ${part}`),
      ...unmarked.map((part) => `not marked as chosen: ${part}`),
      ...(await ringless(page)).map((part) => `without a ring: ${part}`),
    ];
  } finally {
    await page.emulateMedia({ forcedColors: 'none' });
  }
}

describe.skipIf(!ready)('the place', () => {
  test.each(sliceOf(PLACES, EVERY))(
    '$name moves nothing with reduced motion, and loses nothing with forced colours',
    async (place) => {
      await house.visit(place.where, async (page) => {
        await showPlace(page, place, 'en');
        await house.tab.settled();
        expect(await motionOf(page)).toEqual([]);
        expect(await forcedFaults(page)).toEqual([]);
      });
    },
  );
});

describe.skipIf(!ready)('with reduced motion', () => {
  test('a busy button shows its spinner at rest', async () => {
    await house.visit('/sign-in', async (page) => {
      let release = (): void => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.route('**/graphql', async (route) => {
        await held;
        await route.continue();
      });
      await page.getByLabel('Email').fill('mara@lindgren.dev');
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple');
      await page.keyboard.press('Enter');
      await page.locator('.spinner').waitFor();
      const running = () => page.evaluate(() => document.getAnimations().length);
      await expect.poll(running).toBe(0);
      expect(await motionOf(page)).toEqual([]);
      release();
      await page.waitForURL(/\/keys/);
      await page.unroute('**/graphql');
    });
  });
});

describe.skipIf(!ready)('the checks of preferences', () => {
  test('name what moves, what vanishes, and what shows no ring', async () => {
    await house.visit('/help', async (page) => {
      await page.evaluate(() => {
        const main = document.querySelector('main');
        const add = (name: string, style: string): void => {
          const element = document.createElement(name);
          element.style.cssText = style;
          main?.append(element);
        };
        add('div', 'width: 40px; height: 8px; background: teal');
        add('button', 'width: 40px; height: 40px; outline: none');
        main?.animate([{ transform: 'none' }, { transform: 'translateX(4px)' }], 5_000);
      });
      await expect.poll(() => motionOf(page)).toEqual(['animation']);
      const faults = await forcedFaults(page);
      expect(faults.map((fault) => fault.split(':')[0])).toEqual(['invisible', 'without a ring']);
    });
  });
});
