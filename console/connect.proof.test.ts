/** Connecting a tool: the quickstart, the dialog of each key, and the way from the claim link to a cost. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { ready, violations } from './test/browser.ts';
import { SECRET } from './test/key-answers.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;
/** From the claim link to the cost of the first request of a tool. */
const CLICKS_MAX = 7;

/** Sends a request with the newest key, as a tool would. Repeats it until the page listens. */
async function useNewestKey(shown: Locator): Promise<void> {
  const { fake } = house.stage;
  const [key] = fake.state.keys;
  const send = () => fake.addUsage({ keyId: key?.id, cost: '0.1', status: 'SUCCEEDED', httpStatus: 200 });
  await expect
    .poll(
      async () => {
        send();
        return shown.count();
      },
      { timeout: 20_000 },
    )
    .toBe(1);
}

declare global {
  interface Window {
    /** How often a button of the pointer was pressed since `countPresses`. */
    presses: number;
  }
}

/** Begins to count each press of the pointer. The count is lost if the page loads anew. */
async function countPresses(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.presses = 0;
    addEventListener('pointerdown', () => (window.presses += 1), { capture: true });
  });
}

const step = (page: Page, title: string) =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: title }) });

describe.skipIf(!ready)('a newcomer', () => {
  test(`sees the cost of the first request of an agent after at most ${CLICKS_MAX} clicks`, async () => {
    house.stage.fake.state.keys = [];
    await visit('/claim#token', async (page) => {
      await countPresses(page);
      // The first field has the focus, so that typing needs no click.
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.getAttribute('type')))
        .toBe('email');
      await page.keyboard.type('mara@lindgren.dev');
      await page.keyboard.press('Tab');
      await page.keyboard.type('correct horse battery staple');
      await page.getByRole('checkbox', { name: /^I accept/ }).click();
      await page.getByRole('button', { name: 'Claim and sign in' }).click();
      await page.waitForURL(/\/quickstart/);
      await page.getByText('Codex', { exact: true }).click();
      await page.getByRole('button', { name: 'Create and reveal key' }).click();
      await page.getByText('Copies contain the whole key').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByRole('button', { name: 'Copy ~/.codex/config.toml' }).click();
      await page.getByRole('button', { name: 'Copy Shell' }).click();
      await useNewestKey(page.getByText('Codex works. This request cost $0.10.'));
      const clicks = await page.evaluate(() => window.presses);
      expect(clicks).toBeGreaterThanOrEqual(6);
      expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
      expect(await page.getByRole('dialog').count()).toBe(0);
    });
  });
});

describe.skipIf(!ready)('the quickstart', () => {
  test('works by keyboard alone, and asks before the page with the secret is left', async () => {
    await visit('/quickstart', async (page) => {
      await page.getByRole('radio', { name: 'Claude Code' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.getByRole('radio', { name: 'Codex', checked: true }).waitFor();
      await page.getByLabel('Key', { exact: true }).selectOption('New key');
      await press(page, page.getByRole('button', { name: 'Create and reveal key' }));
      await page.getByText('Store it before you leave the page.').waitFor();
      const help = page.getByRole('link', { name: 'Help' });
      await press(page, help);
      await page.getByRole('dialog', { name: 'Leave without storing the key?' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await press(page, page.getByRole('button', { name: 'Back to the key' }));
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await page.content()).toContain(SECRET.slice(-4));
      await press(page, help);
      await press(page, page.getByRole('button', { name: 'Leave anyway' }));
      await page.waitForURL(/\/help$/);
    });
  });

  test('shows the newest request of an existing key, with its receipt', async () => {
    await visit('/quickstart', async (page) => {
      await step(page, 'Send a request').getByRole('link', { name: 'Show the receipt' }).click();
      await page.waitForURL(/\/usage\?request=/);
    });
  });
});

describe.skipIf(!ready)('a key', () => {
  test('shows how to connect each tool, with a placeholder for its secret', async () => {
    await visit('/keys', async (page) => {
      await page.getByRole('button', { name: 'Actions for Staging' }).click();
      await page.getByRole('menuitem', { name: 'Connect a tool…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Connect a tool with Staging' });
      await dialog.getByText('Replace YOUR_API_KEY with the secret').waitFor();
      const files = { Codex: '~/.codex/config.toml', 'AI SDK': 'AI SDK settings', curl: 'curl settings' };
      for (const [name, file] of Object.entries(files)) {
        await dialog.getByText(name, { exact: true }).click();
        await dialog.getByRole('radio', { name, checked: true }).waitFor();
        await dialog.getByRole('figure').filter({ hasText: file }).waitFor();
        expect(await dialog.getByRole('figure').count()).toBeGreaterThan(1);
      }
      expect(await violations(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 800 });
      expect(await violations(page, true)).toEqual([]);
    });
  });
});
