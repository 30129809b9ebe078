/** Flows with Tab, arrows, Enter and typing alone, from page to end: no script focuses anything. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { ready } from './test/browser.ts';
import { SECRET } from './test/key-answers.ts';
import { hasFocus, houseOfTests, tabAndPress, tabTo, typeAndChoose } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const dialog = (page: Page, name?: string | RegExp) => page.getByRole('dialog', name ? { name } : {});

/** Types into the field of the open dialog with this label. */
async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, dialog(page).getByLabel(label, { exact: true }));
  await page.keyboard.type(text);
}

/** Moves down in the open menu until the entry is highlighted, and chooses it. */
async function choose(page: Page, name: string | RegExp): Promise<void> {
  const entry = page.getByRole('menuitem', { name });
  await entry.waitFor();
  const menu = page.getByRole('menu');
  await expect.poll(() => menu.evaluate((it) => it.contains(document.activeElement))).toBe(true);
  for (let steps = 0; steps < 20 && !(await hasFocus(entry)); steps += 1) {
    const before = await page.evaluateHandle(() => document.activeElement);
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => before.evaluate((it) => it !== document.activeElement)).toBe(true);
  }
  await expect.poll(() => hasFocus(entry)).toBe(true);
  await page.keyboard.press('Enter');
}

/** The input of the next mutation with this name. */
async function inputOf(page: Page, name: string, act: () => Promise<void>): Promise<unknown> {
  const sent = page.waitForRequest((request) => request.postData()?.includes(`mutation ${name}(`) ?? false);
  await act();
  return (await sent).postDataJSON().variables.input;
}

/** Waits until something other than the whole page has the focus. */
const focusKept = (page: Page) =>
  expect.poll(() => page.evaluate(() => document.activeElement !== document.body)).toBe(true);

describe.skipIf(!ready)('with Tab and Enter alone, a key', () => {
  test('is created, revealed and stored, and another one is disabled', async () => {
    await visit('/keys', async (page) => {
      await tabAndPress(page, button(page, 'Create key'));
      await type(page, 'Name', 'Night batch');
      await page.keyboard.press('Enter');
      await tabAndPress(page, dialog(page).getByRole('button', { name: 'Reveal', exact: true }));
      await page.getByText(SECRET).first().waitFor();
      await tabAndPress(page, page.getByLabel('I stored it in a safe place'), 'Space');
      await tabAndPress(page, button(page, 'Done'));
      await dialog(page).waitFor({ state: 'detached' });
      await focusKept(page);
      await tabAndPress(page, button(page, 'Actions for Staging'));
      await choose(page, /^Disable/);
      await page.getByText('Staging disabled, applied on 3 of 3 nodes').first().waitFor();
    });
  });

  test('is chosen with others, and all of them are disabled', async () => {
    await visit('/keys', async (page) => {
      for (const name of ['Production API', 'Staging'])
        await tabAndPress(page, page.getByRole('checkbox', { name: `Choose ${name}` }), 'Space');
      const bar = page.getByRole('region', { name: 'Actions on chosen rows' });
      await tabAndPress(page, bar.getByRole('button', { name: 'Disable' }));
      await tabAndPress(page, dialog(page, 'Disable 2 keys').getByRole('button', { name: 'Disable' }));
      await dialog(page).waitFor({ state: 'detached' });
      await focusKept(page);
      const disabled = house.stage.fake.state.keys.filter(({ state }) => state === 'DISABLED');
      expect(disabled.map(({ name }) => name)).toEqual(expect.arrayContaining(['Production API', 'Staging']));
    });
  });
});

describe.skipIf(!ready)('with Tab and Enter alone, money', () => {
  test('is added by card', async () => {
    await visit('/wallet', async (page) => {
      await tabAndPress(page, button(page, 'Add credit'));
      await tabTo(page, page.getByLabel('Amount', { exact: true }));
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type('12.50');
      await tabAndPress(page, button(page, 'Continue to payment'));
      await page.getByText('Waiting for the payment of $12.50.').waitFor();
    });
  });

  test('buys a pool', async () => {
    await visit('/pools', async (page) => {
      await tabAndPress(page, page.getByRole('checkbox', { name: 'swift', exact: true }), 'Space');
      await tabTo(page, page.getByLabel('Subdomain', { exact: true }));
      await page.keyboard.type('night');
      await tabTo(page, page.getByLabel('Name', { exact: true }));
      await page.keyboard.type('Night');
      await button(page, 'Pay $99.00').waitFor();
      await tabAndPress(page, button(page, 'Pay $99.00'));
      await page.getByRole('heading', { name: 'Night', exact: true }).waitFor();
    });
  });
});

describe.skipIf(!ready)('with Tab and Enter alone, a receipt', () => {
  test('is opened from the log, and Escape leads back to its link', async () => {
    await visit('/usage', async (page) => {
      const link = page.getByRole('link', { name: '…000003' });
      await tabAndPress(page, link);
      await dialog(page, 'Receipt').waitFor();
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      await expect.poll(() => hasFocus(link)).toBe(true);
    });
  });
});

describe.skipIf(!ready)('with Tab and Enter alone, models', () => {
  test('are compared', async () => {
    await visit('/compare', async (page) => {
      for (const name of ['coder', 'swift']) {
        await tabAndPress(page, button(page, 'Add a model'));
        const search = page.getByRole('combobox', { name: 'Add a model' });
        await typeAndChoose(search, name, new RegExp(`^${name}(?!-)`));
        await page.getByRole('columnheader', { name }).waitFor();
      }
      await tabAndPress(page, button(page, 'Remove coder'));
      await page.getByRole('columnheader', { name: 'coder' }).waitFor({ state: 'detached' });
    });
  });

  test('are set side by side in the Playground', async () => {
    await visit('/playground?model=swift', async (page) => {
      await tabAndPress(page, button(page, 'Compare models'));
      await page.getByText('2 models,').waitFor();
      await tabAndPress(page, button(page, 'Add model'));
      await page.getByText('3 models,').waitFor();
      await tabAndPress(page, page.getByRole('region', { name: 'swift' }).getByRole('button').first());
      await typeAndChoose(page.getByRole('combobox'), 'reasoner', /^reasoner(?!-)/);
      await page.getByRole('region', { name: 'reasoner' }).waitFor();
      await tabTo(page, page.getByRole('textbox', { name: 'Write a message' }));
      await page.keyboard.type('Good day');
      await tabTo(page, button(page, 'Send'));
    });
  });
});

describe.skipIf(!ready)('with Tab and Enter alone, an incident', () => {
  test('is published', async () => {
    await visit('/admin/incidents', async (page) => {
      await tabAndPress(page, button(page, 'New incident'));
      await type(page, 'Title', 'Slow answers');
      await type(page, 'Message for users', 'We look for the cause.');
      await tabAndPress(page, dialog(page).getByLabel('coder-max'), 'Space');
      await type(page, 'Reason', 'seen');
      const input = await inputOf(page, 'CreateIncident', () => page.keyboard.press('Enter'));
      expect(input).toMatchObject({
        kind: 'DEGRADATION',
        title: 'Slow answers',
        modelNames: ['coder-max'],
        reason: 'seen',
      });
    });
  });
});

describe.skipIf(!ready)('with Tab and Enter alone, an upstream', () => {
  test('is added', async () => {
    await visit('/admin/upstreams', async (page) => {
      await tabAndPress(page, button(page, 'Add upstream'));
      await type(page, 'Name', 'south');
      await type(page, 'Base address', 'https://south.example/v1');
      await type(page, 'Reason', 'a second region');
      const input = await inputOf(page, 'UpsertProvider', () => page.keyboard.press('Enter'));
      expect(input).toMatchObject({ name: 'south', baseUrl: 'https://south.example/v1', enabled: true });
      await dialog(page).waitFor({ state: 'detached' });
      await focusKept(page);
    });
  });

  test('gets a credential and a route', async () => {
    await visit('/admin/upstreams/prv_north-eu', async (page) => {
      await tabAndPress(page, button(page, 'Add credential'));
      await type(page, 'Name', 'second');
      await type(page, 'Secret', 'sk-of-the-provider');
      await type(page, 'Reason', 'more quota');
      const credential = await inputOf(page, 'AddCredential', () => page.keyboard.press('Enter'));
      expect(credential).toMatchObject({ label: 'second', secret: 'sk-of-the-provider' });
      await dialog(page).waitFor({ state: 'detached' });
      await tabAndPress(page, button(page, 'Add route'));
      await tabTo(page, dialog(page).getByLabel('Model', { exact: true }));
      await page.keyboard.type('swift');
      await type(page, 'Model name at the upstream', 'north-swift');
      await type(page, 'Reason', 'a cheaper one');
      const route = await inputOf(page, 'UpsertRoute', () => page.keyboard.press('Enter'));
      expect(route).toMatchObject({ upstreamModel: 'north-swift', modelId: 'mdl_swift', weight: 100 });
    });
  });
});

describe.skipIf(!ready)('with Tab and Enter alone, the models of an upstream', () => {
  test('are read again in the same dialog after a failure, and the focus stays', async () => {
    await visit('/admin/upstreams/prv_north-eu', async (page) => {
      house.stage.fake.state.broken = true;
      await tabAndPress(page, button(page, 'Read models'));
      await dialog(page).getByRole('alert').getByText('The gateway failed. Try again.').waitFor();
      const opened = await dialog(page).elementHandle();
      const retry = await dialog(page).getByRole('button', { name: 'Retry' }).elementHandle();
      house.stage.fake.state.broken = false;
      await tabAndPress(page, dialog(page).getByRole('button', { name: 'Retry' }));
      await dialog(page).getByLabel('north-small-2', { exact: true }).waitFor();
      expect(await opened?.evaluate((it) => it.isConnected)).toBe(true);
      await expect.poll(() => retry?.evaluate((it) => it === document.activeElement)).toBe(true);
    });
  });
});
