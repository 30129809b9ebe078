/** The search of the command palette: each kind of object that it finds, their order, by keyboard alone. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { ready, violations } from './test/browser.ts';
import { houseOfTests, typeInto } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

/** Opens the palette and types the text, with the keyboard. */
async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+k');
  await typeInto(page.getByRole('combobox', { name: 'Search or run a command' }), text);
}

const option = (page: Page, name: RegExp) => page.getByRole('option', { name });

const FOUND = [
  { kind: 'Key', text: 'production', name: /^Production API/, address: /\/keys\/key_\d+$/ },
  { kind: 'Model', text: 'coder', name: /^coder\b(?!-)/, address: /\/pricing\/coder$/ },
  { kind: 'Model', text: 'flagship-max', name: /^flagship-max/, address: /\/pricing\/flagship-max$/ },
  {
    kind: 'Request',
    text: 'req_01KAGX000003',
    name: /^req_01KAGX000003/,
    address: /\/usage\?request=req_01KAGX000003$/,
  },
  { kind: 'Pool', text: 'orbit', name: /^Orbit/, address: /\/pools\/pool_\w+$/ },
  {
    kind: 'Error',
    text: '402 insuff',
    name: /^402 insufficient_funds/,
    address: /\/help#insufficient_funds$/,
  },
  { kind: 'Error', text: 'monthly cap', name: /spend_limit_reached/, address: /\/help#spend_limit_reached$/ },
  { kind: 'Help', text: 'base addr', name: /^Base addresses/, address: /\/help#addresses$/ },
  { kind: 'Help', text: 'limits', name: /^Limits/, address: /\/help#limits$/ },
  { kind: 'Help', text: 'x-goog', name: /^Keys/, address: /\/help#keys$/ },
  { kind: 'Help', text: 'conformance', name: /^Conformance/, address: /\/docs\/conformance$/ },
];

const FOUND_BY_ADMINS = [
  { kind: 'User', text: 'ops@', name: /^ops@/, address: /\/admin\/users\/usr_\w+$/ },
  {
    kind: 'Customer pool',
    text: 'atlas',
    name: /^Atlas.*Customer pool/,
    address: /\/admin\/pools\/pool_\w+$/,
  },
  { kind: 'Upstream', text: 'north-eu', name: /^north-eu/, address: /\/admin\/upstreams\/prv_\w+/ },
];

describe.skipIf(!ready)('the palette', () => {
  test.each(FOUND)('finds a result of kind $kind by “$text”, and Enter opens it', async (found) => {
    await visit('/keys', async (page) => {
      await type(page, found.text);
      const first = option(page, found.name).first();
      await first.getByText(found.kind, { exact: true }).waitFor();
      await reach(page, found.name);
      await page.keyboard.press('Enter');
      await page.waitForURL(found.address);
    });
  });

  test.each(FOUND_BY_ADMINS)('finds a result of kind $kind for administrators', async (found) => {
    await visit('/admin/models', async (page) => {
      await type(page, found.text);
      await option(page, found.name).first().getByText(found.kind, { exact: true }).waitFor();
      await reach(page, found.name);
      await page.keyboard.press('Enter');
      await page.waitForURL(found.address);
    });
  });

  test('finds no users, upstreams and pools of others for customers', async () => {
    await visit('/keys', async (page) => {
      await type(page, 'north-eu');
      await page.getByText('Nothing matches').waitFor();
    });
  });

  test('ranks a name that begins with the text before names that only contain it', async () => {
    await visit('/keys', async (page) => {
      await type(page, 'coder');
      const firstTwo = async () => (await page.getByRole('option').allTextContents()).slice(0, 2);
      const ranked: unknown[] = [/^coder(?!-)/, /^coder-max/].map((name) => expect.stringMatching(name));
      await expect.poll(firstTwo).toEqual(ranked);
      const selected = page.getByRole('option', { selected: true });
      await expect.poll(() => selected.textContent()).toMatch(/^coder(?!-)/);
      expect(await violations(page)).toEqual([]);
    });
  });
});

/** Moves down with the arrow key until the option is selected. */
async function reach(page: Page, name: RegExp): Promise<void> {
  const selected = page.getByRole('option', { name, selected: true });
  const ids = () =>
    page.getByRole('option', { selected: true }).evaluateAll((all) => all.map(({ id }) => id).join());
  const options = await page.getByRole('option').count();
  for (let steps = 0; steps < options && (await selected.count()) === 0; steps += 1) {
    const before = await ids();
    await page.keyboard.press('ArrowDown');
    await expect.poll(async () => (await selected.count()) > 0 || (await ids()) !== before).toBe(true);
  }
  await selected.first().waitFor();
}
