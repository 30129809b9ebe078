/** The page of one key: its spend and cap, its newest requests, and the way there. */
import { describe, expect, test } from 'vitest';
import { ready } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

describe.skipIf(!ready)('the page of a key', () => {
  test('is reached from its name in the list, and leads to a receipt', async () => {
    await visit('/keys', async (page) => {
      await press(page, page.getByRole('link', { name: 'Production API' }));
      await page.getByRole('heading', { level: 1, name: 'Production API' }).waitFor();
      await page.getByRole('group', { name: 'Cost of the last 30 days' }).waitFor();
      await press(page, page.getByRole('table', { name: 'Requests' }).getByRole('link').first());
      await page.getByRole('dialog', { name: 'Receipt' }).waitFor();
      expect(new URL(page.url()).searchParams.get('key')).toBe('key_2');
    });
  });

  test('shows that the monthly cap is reached, as the list does', async () => {
    Object.assign(house.stage.fake.state.keys[1] ?? {}, { spendLimit: '400' });
    await visit('/keys', async (page) => {
      const row = page.getByRole('row').filter({ hasText: 'Production API' });
      await row.getByText('Cap reached').waitFor();
      await press(page, row.getByRole('link', { name: 'Production API' }));
      await page.getByText('Requests fail with 402').waitFor();
      await page.getByRole('img', { name: '$412.35 of the monthly cap of $400.00 spent' }).waitFor();
    });
  });

  test('shows its allowed addresses as they were saved', async () => {
    await visit('/keys/key_2', async (page) => {
      await page.getByText('Any address').waitFor();
      await page.getByRole('button', { name: 'Actions for Production API' }).click();
      await page.getByRole('menuitem', { name: 'Edit…' }).click();
      const dialog = page.getByRole('dialog', { name: 'Edit Production API' });
      await dialog.getByLabel('Allowed IP addresses').fill('192.0.2.0/24');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('192.0.2.0/24').waitFor();
    });
  });
});
