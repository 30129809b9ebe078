/** Notices about the spend of keys and of the account, on every page. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { SAMPLE_ALERTS } from './test/alert-answers.ts';
import { overflow, ready, violations } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

const alerts = () => {
  house.stage.fake.state.spendAlerts = [...SAMPLE_ALERTS];
};
const dismiss = (page: Page) => press(page, page.getByRole('button', { name: 'Dismiss this alert' }));

describe.skipIf(!ready)('spend alerts', () => {
  test('appear one after another, and stay dismissed on another device', async () => {
    alerts();
    await visit('/usage', async (page) => {
      await page
        .getByText('“Production API” has reached 100 % of its monthly cap: $50.25 of $50.00.')
        .waitFor();
      await page.getByText('2 more alerts follow.').waitFor();
      expect(await violations(page)).toEqual([]);
      await dismiss(page);
      await page.getByText('“Codex in CI” has reached 80 %').waitFor();
      await page.getByText('1 more alert follows.').waitFor();
    });
    // Another page load has no memory of the first one but the service.
    await visit('/wallet', async (page) => {
      await page.getByText('“Codex in CI” has reached 80 %').waitFor();
      await dismiss(page);
      await page
        .getByText('Your account has reached 50 % of its monthly budget: $568.28 of $1,000.00.')
        .waitFor();
      await dismiss(page);
      await page.getByRole('button', { name: 'Dismiss this alert' }).waitFor({ state: 'detached' });
      await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content');
      await page.getByText(/^Orbit ends /).waitFor();
    });
  });

  test('lead to their key', async () => {
    alerts();
    await visit('/usage', async (page) => {
      await press(page, page.getByRole('link', { name: 'Open the key' }));
      await page.waitForURL(/\/keys\/key_0$/);
    });
  });
});

describe.skipIf(!ready)('the notice of a spend alert', () => {
  test.each([
    [1440, 'light'],
    [1024, 'dark'],
    [390, 'light'],
    [320, 'dark'],
  ] as const)('fits %i px in the %s theme, on a chat, too', async (width, theme) => {
    alerts();
    for (const where of ['/wallet', '/playground'])
      await visit(where, async (page) => {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme: theme });
        await page.getByText('has reached 100 %').waitFor();
        expect(await violations(page)).toEqual([]);
        expect(await overflow(page)).toBe(0);
      });
  });
});
