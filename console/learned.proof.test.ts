/** The notice about learned items, and the open tasks of a new chat, in a real browser. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { ready, violations } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;
const PAGE = '/profile/personal-intelligence';
const NEWS = { id: 'itm_20', text: 'Prefers tabs' };
const fake = () => house.stage.fake;
const textsOf = () => fake().state.items.map(({ text }) => text);
const notice = (page: Page) => page.getByRole('region', { name: 'Learned from your chats' });

/** Turns the switch of open tasks on. */
function turnTasksOn(): void {
  for (const one of fake().state.switches) one.enabled ||= one.kind === 'WORKING_ON';
}

describe.skipIf(!ready)('a notice', () => {
  test('appears in the Playground, is announced, and leaves the focus in the message', async () => {
    const listeners = fake().intelligenceListeners();
    await visit('/playground', async (page) => {
      await page.getByRole('textbox', { name: 'Write a message' }).fill('Half a sent');
      expect(await notice(page).count()).toBe(0);
      await expect.poll(() => fake().intelligenceListeners()).toBeGreaterThan(listeners);
      fake().learn(NEWS);
      await notice(page).getByText('Learned: Prefers tabs').waitFor();
      expect(await page.getByRole('status').allTextContents()).toContain('Learned: Prefers tabs');
      await page.keyboard.type('ence');
      expect(await page.getByRole('textbox', { name: 'Write a message' }).inputValue()).toBe(
        'Half a sentence',
      );
      expect(await violations(page)).toEqual([]);
      await expect.poll(() => fake().state.seen).toEqual(['itm_20']);
      await press(page, notice(page).getByRole('button', { name: 'Undo “Prefers tabs”' }));
      await page.getByText('Undone. It is not learned again.').waitFor();
      await notice(page).waitFor({ state: 'detached' });
      expect(textsOf()).not.toContain('Prefers tabs');
      await page.keyboard.press('Tab');
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
    });
  });

  test('names three items and the number of others, restores a text, and is dismissed', async () => {
    for (const number of [1, 2, 3]) fake().learn({ id: `itm_3${number}`, text: `Prefers thing ${number}` });
    fake().learn({ id: 'itm_2', text: 'American spelling in documents' });
    await visit(PAGE, async (page) => {
      await notice(page).getByText('Changed: American spelling in documents').waitFor();
      expect(await notice(page).getByRole('button', { name: /^Undo/ }).count()).toBe(3);
      await notice(page).getByText('and 1 more').waitFor();
      expect(await violations(page)).toEqual([]);
      await notice(page).getByRole('button', { name: 'Undo “American' }).click();
      await page.getByRole('list', { name: 'What is known' }).getByText('British spelling').waitFor();
      await notice(page).getByText('Learned: Prefers thing 1').waitFor();
      await press(page, notice(page).getByRole('button', { name: 'Hide this notice' }));
      await notice(page).waitFor({ state: 'detached' });
      expect(fake().state.learned).toEqual([]);
      expect(textsOf()).toContain('Prefers thing 1');
    });
  });
});

describe.skipIf(!ready)('a notice with its link', () => {
  test('leads from the Playground to the page of items', async () => {
    fake().learn(NEWS);
    await visit('/playground?chat=cnv_1', async (page) => {
      await notice(page).getByRole('link', { name: 'Open all items' }).click();
      await page.waitForURL(/\/profile\/personal-intelligence/);
      await page.getByRole('list', { name: 'What is known' }).getByText('Prefers tabs').waitFor();
    });
  });
});

describe.skipIf(!ready)('an open task', () => {
  test('begins a new chat with a draft that is not sent, and names its chat', async () => {
    turnTasksOn();
    await visit('/playground', async (page) => {
      await page.getByRole('heading', { name: 'Pick up where you left off' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await press(page, page.getByRole('button', { name: 'Continue with “Ledger: rounding' }));
      const composer = page.getByRole('textbox', { name: 'Write a message' });
      await expect.poll(() => composer.inputValue()).toMatch(/^Let us continue with “Ledger: rounding/);
      await expect.poll(() => composer.evaluate((field) => field === document.activeElement)).toBe(true);
      await page
        .getByRole('main')
        .getByRole('link', { name: 'Retry budgets over three nodes' })
        .last()
        .click();
      await page.waitForURL(/chat=cnv_1/);
      await page.getByText('Pick up where you left off').waitFor({ state: 'detached' });
    });
  });

  test('ends by its button, and its item is deleted', async () => {
    turnTasksOn();
    await visit('/playground', async (page) => {
      await press(page, page.getByRole('button', { name: 'Done with “Ledger: rounding' }));
      await page.getByText('The task is done. Its item was deleted.').waitFor();
      await page.getByText('Pick up where you left off').waitFor({ state: 'detached' });
      expect(fake().state.items.some(({ kind }) => kind === 'WORKING_ON')).toBe(false);
    });
  });

  test('is not shown in a temporary chat, while its switch is off, or if it is not relevant', async () => {
    await visit('/playground', async (page) => {
      await page.getByRole('heading', { name: 'Ask a model' }).waitFor();
      expect(await page.getByText('Pick up where you left off').count()).toBe(0);
    });
    turnTasksOn();
    await visit('/playground', async (page) => {
      await page.getByText('Pick up where you left off').waitFor();
      await page.getByRole('switch', { name: 'Temporary chat' }).check();
      await page.getByText('Pick up where you left off').waitFor({ state: 'detached' });
    });
    for (const item of fake().state.items) item.suppressed = true;
    await visit('/playground', async (page) => {
      await page.getByRole('heading', { name: 'Ask a model' }).waitFor();
      expect(await page.getByText('Pick up where you left off').count()).toBe(0);
    });
  });
});
