/** The status page, the incidents of administrators, and the comparison of models, in a real browser. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { ready, violations } from './test/browser.ts';
import { houseOfTests, press, typeAndChoose } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

/** The input of the next mutation with this name that the page sends. */
async function inputOf(page: Page, name: string, act: () => Promise<void>): Promise<unknown> {
  const sent = page.waitForRequest((request) => request.postData()?.includes(`mutation ${name}(`) ?? false);
  await act();
  return (await sent).postDataJSON().variables.input;
}

describe.skipIf(!ready)('the status page', () => {
  test('is linked from sign-in, and shows open incidents before planned and past ones', async () => {
    await visit('/sign-in', async (page) => {
      await press(page, page.getByRole('link', { name: 'Status' }));
      await page.getByRole('heading', { name: 'Status', level: 1 }).waitFor();
      await page.getByText('Some requests fail or are slow').waitFor();
      const titles = page.getByRole('article').locator('h3');
      await expect
        .poll(() => titles.allTextContents())
        .toEqual(['Slow first tokens', 'Database upgrade', 'Embeddings failed']);
      const feed = page.getByRole('link', { name: 'Atom feed' });
      expect(await feed.getAttribute('href')).toBe('/status/feed.atom');
      await expect.poll(() => page.locator('svg[role=img] rect').count()).toBeGreaterThanOrEqual(90);
    });
  });
});

describe.skipIf(!ready)('a new incident', () => {
  test('is published by keyboard alone', async () => {
    await visit('/admin/incidents', async (page) => {
      await press(page, page.getByRole('button', { name: 'New incident' }));
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Kind').selectOption('MAINTENANCE');
      await dialog.getByLabel('Title').fill('New database');
      await dialog.getByLabel('Message for users').fill('Nothing to do.');
      await dialog.getByLabel('Begins (UTC)').fill('2030-01-02T10:00');
      await dialog.getByLabel('Ends (UTC)').fill('2030-01-02T11:00');
      await dialog.getByLabel('coder-max').check();
      await dialog.getByRole('textbox', { name: 'Reason' }).fill('planned');
      expect(await violations(page)).toEqual([]);
      const send = () => dialog.getByRole('textbox', { name: 'Reason' }).press('Enter');
      expect(await inputOf(page, 'CreateIncident', send)).toEqual({
        kind: 'MAINTENANCE',
        title: 'New database',
        state: 'SCHEDULED',
        message: 'Nothing to do.',
        startsAt: '2030-01-02T10:00:00.000Z',
        endsAt: '2030-01-02T11:00:00.000Z',
        modelNames: ['coder-max'],
        families: [],
        reason: 'planned',
      });
      await page.getByText('The incident is published.').waitFor();
    });
  });
});

describe.skipIf(!ready)('a published incident', () => {
  test('gets an update and is removed by keyboard alone', async () => {
    await visit('/admin/incidents', async (page) => {
      const dialog = page.getByRole('dialog');
      const send = () => dialog.getByRole('textbox', { name: 'Reason' }).press('Enter');
      const first = page.getByRole('article', { name: 'Slow first tokens' });
      await press(page, first.getByRole('button', { name: 'Write update' }));
      await dialog.getByLabel('State').selectOption('RESOLVED');
      await dialog.getByLabel('Message for users').fill('It works.');
      await dialog.getByRole('textbox', { name: 'Reason' }).fill('watched');
      const update = await inputOf(page, 'UpdateIncident', send);
      expect(update).toEqual({
        id: 'inc_1',
        version: 2,
        state: 'RESOLVED',
        message: 'It works.',
        reason: 'watched',
      });
      await page.getByText('The update is published.').waitFor();
      await press(page, first.getByRole('button', { name: 'Remove' }));
      await dialog.getByRole('textbox', { name: 'Reason' }).fill('a mistake');
      expect(await inputOf(page, 'DeleteIncident', send)).toEqual({ id: 'inc_1', reason: 'a mistake' });
    });
  });
});

/** The balance. Only the frame of signed-in users has it, which replaces that of visitors. */
const signedInFrame = (page: Page) => page.getByRole('link', { name: /^Available/ });

describe.skipIf(!ready)('the comparison of models', () => {
  test('keeps its models in the address, from the page of a model on', async () => {
    await visit('/pricing/coder', async (page) => {
      await signedInFrame(page).waitFor();
      await press(page, page.getByRole('link', { name: 'Compare models' }));
      await page.getByRole('columnheader', { name: 'coder' }).waitFor();
      await press(page, page.getByRole('button', { name: 'Add a model' }));
      const search = page.getByRole('combobox', { name: 'Add a model' });
      await typeAndChoose(search, 'swift', /^swift(?!-)/);
      await page.getByRole('columnheader', { name: 'swift' }).waitFor();
      expect(new URL(page.url()).searchParams.get('models')).toBe('["coder","swift"]');
      await page.reload();
      await signedInFrame(page).waitFor();
      await page.getByRole('columnheader', { name: 'swift' }).waitFor();
      await page
        .getByRole('row', { name: /^Median time to first token/ })
        .getByText('420 ms')
        .first()
        .waitFor();
      await press(page, page.getByRole('button', { name: 'Remove coder' }));
      await page.getByRole('columnheader', { name: 'coder' }).waitFor({ state: 'detached' });
      await page.goBack();
      await page.getByRole('columnheader', { name: 'coder' }).waitFor();
    });
  });
});
