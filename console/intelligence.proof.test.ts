/** Personal Intelligence in a real browser: switches, items, the items used in a reply, and forgetting. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { ready, violations } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;
const PAGE = '/profile/personal-intelligence';
const openWithKey = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name }).first().focus();
  await page.keyboard.press('Enter');
};
const textsOf = () => house.stage.fake.state.items.map(({ text }) => text);

describe.skipIf(!ready)('a switch', () => {
  test('asks whether its items are kept or deleted before it goes off', async () => {
    await visit(PAGE, async (page) => {
      const routines = page.getByRole('switch', { name: 'Durable routines' });
      await routines.waitFor();
      await page.getByText('Read by the model swift.').first().waitFor();
      await routines.click();
      const dialog = page.getByRole('dialog', { name: 'Turn off: Durable routines' });
      await dialog.waitFor();
      expect(await violations(page)).toEqual([]);
      await dialog.getByRole('radio', { name: 'Delete the items permanently (1)' }).click();
      await press(page, dialog.getByRole('button', { name: 'Turn off' }));
      await page.getByText('Writes release notes every Friday').waitFor({ state: 'detached' });
      await expect.poll(() => routines.isChecked()).toBe(false);
      const summaries = page.getByRole('switch', { name: 'Conversation summaries' });
      await summaries.click();
      await page.getByText('2 of 4 switches are on').waitFor();
      await expect.poll(() => summaries.isChecked()).toBe(true);
    });
  });
});

describe.skipIf(!ready)('an item', () => {
  test('is added, edited in its row, pinned and deleted by keyboard', async () => {
    await visit(PAGE, async (page) => {
      await page.getByText('British spelling in documents').first().waitFor();
      await openWithKey(page, 'Add an item');
      await page.getByRole('textbox', { name: 'Item' }).fill('I prefer tabs');
      await press(page, page.getByRole('dialog').getByRole('button', { name: 'Add', exact: true }));
      await page.getByText('I prefer tabs').first().waitFor();
      // Its input has the same name as that of the row.
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      await openWithKey(page, 'Actions for “I prefer tabs”');
      await page.getByRole('menuitem', { name: 'Edit', exact: true }).press('Enter');
      await page.getByRole('textbox', { name: 'Item' }).fill('I prefer spaces');
      await press(page, page.getByRole('button', { name: 'Save' }));
      await page.getByText('I prefer spaces').first().waitFor();
      await openWithKey(page, 'Actions for “I prefer spaces”');
      await page.getByRole('menuitem', { name: 'Pin', exact: true }).press('Enter');
      await expect.poll(() => house.stage.fake.state.items[0]?.pinned).toBe(true);
      await openWithKey(page, 'Actions for “I prefer spaces”');
      await page.getByRole('menuitem', { name: 'Delete…' }).press('Enter');
      await press(page, page.getByRole('dialog').getByRole('button', { name: 'Delete' }));
      await page.getByText('Item deleted').waitFor();
      expect(textsOf()).not.toContain('I prefer spaces');
    });
  });
});

describe.skipIf(!ready)('an item in the list', () => {
  test('keeps its text after Escape, and the focus stays in its row', async () => {
    await visit(PAGE, async (page) => {
      await page.getByText('British spelling in documents').first().waitFor();
      await openWithKey(page, 'Actions for “British spelling');
      await page.getByRole('menuitem', { name: 'Edit', exact: true }).press('Enter');
      const field = page.getByRole('textbox', { name: 'Item' });
      await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
      expect(await violations(page)).toEqual([]);
      await field.fill('American spelling');
      await field.press('Escape');
      await field.waitFor({ state: 'detached' });
      expect(textsOf()).toContain('British spelling in documents');
      await page.keyboard.press('Enter');
      await page.getByRole('menuitem', { name: 'Edit', exact: true }).waitFor();
    });
  });

  test('is found by kind and by words, and names the chat from which it was learned', async () => {
    await visit(PAGE, async (page) => {
      await page.getByRole('button', { name: 'Show items: Preference profiles' }).click();
      await page.getByText('Writes release notes every Friday').waitFor({ state: 'detached' });
      await page.getByRole('searchbox', { name: 'Search items' }).fill('british');
      await page.getByText('Answers in TypeScript').first().waitFor({ state: 'detached' });
      await page.getByRole('button', { name: /^Actions for “British/ }).click();
      await page.getByRole('menuitem', { name: 'Sources…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Where this comes from' });
      await dialog.getByText('show the code first').waitFor();
      expect(await violations(page)).toEqual([]);
      await dialog.getByRole('link', { name: 'Retry budgets over three nodes' }).click();
      await page.waitForURL(/\/playground\?chat=cnv_1/);
    });
  });
});

describe.skipIf(!ready)('the text that would be sent', () => {
  test('is shown for a draft', async () => {
    await visit(PAGE, async (page) => {
      await page.getByRole('button', { name: 'Preview what would be sent' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('textbox', { name: 'Message' }).fill('Review this function');
      await press(page, dialog.getByRole('button', { name: 'Preview' }));
      await dialog.getByText('61 of at most 600 tokens. 1 item did not fit.').waitFor();
      expect(await dialog.locator('pre').innerText()).toContain('Answers in TypeScript');
      expect(await violations(page)).toEqual([]);
    });
  });

  test('is listed above a reply, with actions on its items', async () => {
    await visit('/playground?chat=cnv_1', async (page) => {
      await page.getByRole('button', { name: 'Used in this reply (2)' }).click();
      const dialog = page.getByRole('dialog', { name: 'Used in this reply' });
      await dialog.getByText('Answers in TypeScript, short, code first').waitFor();
      await dialog.getByText('The item and the text of this line have been deleted since then.').waitFor();
      expect(await violations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Not relevant' }).click();
      await dialog.getByRole('button', { name: 'Use again' }).waitFor();
      expect(house.stage.fake.state.items.find(({ id }) => id === 'itm_1')?.suppressed).toBe(true);
    });
  });
});

describe.skipIf(!ready)('all data of Personal Intelligence', () => {
  test('is exported, imported, and forgotten after a typed word', async () => {
    await visit(PAGE, async (page) => {
      await page.getByRole('button', { name: 'Export or import' }).click();
      const download = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: 'Export all items' }).click();
      const file = await (await download).path();
      const before = textsOf();
      await page.getByRole('button', { name: 'Delete items…' }).click();
      await page.getByRole('dialog').getByRole('textbox').fill('DELETE');
      await press(page, page.getByRole('dialog').getByRole('button', { name: 'Delete' }));
      await page.getByText('Nothing is known yet').waitFor();
      expect(textsOf()).toEqual([]);
      await page.locator('input[type=file]').setInputFiles(file);
      const kept = before.filter((text) => !text.startsWith('Asked how'));
      await page.getByText(`${kept.length} of ${kept.length} items added.`).waitFor();
      expect(textsOf().toSorted()).toEqual(kept.toSorted());
      await page.getByRole('button', { name: 'Forget everything…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Forget everything' });
      await press(page, dialog.getByRole('button', { name: 'Forget everything' }));
      await dialog.getByText('FORGET', { exact: false }).first().waitFor();
      await dialog.getByRole('textbox').fill('FORGET');
      await press(page, dialog.getByRole('button', { name: 'Forget everything' }));
      await page.getByText('Everything was forgotten').waitFor();
      await page.getByText('Chats are not stored because all four switches are off.').waitFor();
    });
  });
});

describe.skipIf(!ready)('an administrator', () => {
  test('chooses the model that reads chats, and sees counts only', async () => {
    await visit('/admin/personal-intelligence', async (page) => {
      await page.getByText('3, the oldest overdue for 2 min').waitFor();
      await page.getByRole('button', { name: 'Edit settings' }).click();
      const dialog = page.getByRole('dialog', { name: 'Edit settings' });
      await dialog.getByLabel('Model that reads chats').selectOption('coder');
      await dialog.getByLabel('Monthly budget at list price').fill('75');
      await dialog.getByLabel('Reason').fill('A better reader.');
      expect(await violations(page)).toEqual([]);
      await press(page, dialog.getByRole('button', { name: 'Save' }));
      await page.getByText('$75').waitFor();
      await page.getByText('coder').waitFor();
    });
  });
});
