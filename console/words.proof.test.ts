/**
 * Every page in a made-up language, a third longer than English: nothing on it is untranslated or
 * cut off.
 */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { ADMIN_PAGES, drawn, overflow, OWN_PAGES, PUBLIC_PAGES, ready } from './test/browser.ts';
import { clippedWords, untranslated } from './test/words.ts';
import { houseOfTests } from './test/visit.ts';

const house = houseOfTests(async ({ tab }) => {
  await tab.context.addInitScript(() => {
    // The empty page between two visits has no storage.
    if (location.protocol === 'http:') localStorage.setItem('language', 'en-XA');
  });
});

/** Collects the texts that the service answered on this page. The console does not translate them. */
async function withAnswers(
  where: string,
  steps: (page: Page, answers: string) => Promise<void>,
): Promise<void> {
  const answers: Promise<string>[] = [];
  const { page } = house.tab;
  const keep = (response: { url(): string; text(): Promise<string> }) => {
    if (response.url().endsWith('/graphql')) answers.push(response.text().catch(() => ''));
  };
  page.on('response', keep);
  await house.visit(where, async () => steps(page, (await Promise.all(answers)).join('\n')));
  page.off('response', keep);
}

describe.skipIf(!ready)('in the long language', () => {
  test.each([...PUBLIC_PAGES, ...OWN_PAGES, ...ADMIN_PAGES])(
    '%s has no untranslated words, cuts none off, and does not scroll sideways',
    async (where) => {
      await withAnswers(where, async (page, answers) => {
        expect(await page.locator('html').getAttribute('lang')).toBe('en-XA');
        expect(await untranslated(page, answers)).toEqual([]);
        for (const width of [1280, 360]) {
          await page.setViewportSize({ width, height: 800 });
          await drawn(page);
          expect(await clippedWords(page), `${width} px`).toEqual([]);
          // A table becomes a list of cards in the frame after the change of its width.
          await expect.poll(() => overflow(page), { message: `${width} px` }).toBe(0);
        }
      });
    },
  );
});
