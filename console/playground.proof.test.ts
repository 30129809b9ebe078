/** Tests settings, templates, comparison and coloured code of the Playground in a real browser. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { overflow, ready, violations } from './test/browser.ts';
import { hasFocus, houseOfTests, typeInto } from './test/visit.ts';

const house = houseOfTests();
const visit = house.visit;

/** Opens the list of models with the keyboard. Its search field has the focus. */
async function openModels(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: /^Model:/ }).press('Enter');
  const list = page.getByRole('dialog', { name: 'Model' });
  await expect.poll(() => hasFocus(list.getByRole('combobox'))).toBe(true);
  return list;
}

describe.skipIf(!ready)('the settings of replies', () => {
  test('are set by keyboard, counted, and written into the request that people copy', async () => {
    await visit('/playground?model=coder', async (page) => {
      await page.getByRole('button', { name: 'Settings of replies: 0 set' }).press('Enter');
      const prompt = page.getByLabel('System prompt');
      await prompt.waitFor();
      expect(await violations(page)).toEqual([]);
      await typeInto(prompt, 'Answer in French.');
      await page.getByLabel('Temperature').fill('3');
      await page.getByRole('button', { name: 'Apply' }).press('Enter');
      await page.getByText('Enter a number from 0 to 2.').waitFor();
      await page.getByLabel('Temperature').fill('0.3');
      await page.getByRole('button', { name: 'Apply' }).press('Enter');
      await page.getByRole('button', { name: 'Settings of replies: 2 set' }).waitFor();
      await page.getByRole('textbox', { name: 'Write a message' }).fill('Good day');
      await page.getByRole('button', { name: 'View as API call' }).press('Enter');
      const code = page.getByRole('dialog').locator('pre');
      await code.getByText('"temperature": 0.3').waitFor();
      expect(await code.textContent()).toContain('Answer in French.');
      await page.getByRole('tab', { name: 'Python' }).click();
      await code.getByText('temperature=0.3').waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });

  test('offer only the parameters that the model takes', async () => {
    await visit('/playground?model=budget', async (page) => {
      await page.getByRole('button', { name: /^Settings of replies/ }).click();
      await page.getByLabel('Seed').waitFor();
      expect(await page.getByLabel('Reasoning effort').count()).toBe(0);
      await page.getByText('budget does not accept: Reasoning effort').waitFor();
    });
  });
});

describe.skipIf(!ready)('prompt templates', () => {
  test('are created, used, changed and deleted in the browser, and survive a reload', async () => {
    await visit('/playground', async (page) => {
      const open = () => page.getByRole('button', { name: 'Prompt templates' }).click();
      await open();
      await page.getByRole('button', { name: 'New template' }).click();
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Enter a name.').waitFor();
      await page.getByLabel('Name', { exact: true }).fill('Review');
      await page.getByLabel('System prompt').fill('Review code.');
      await page.getByRole('dialog').getByLabel('Message').fill('Review this:');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('button', { name: 'Edit Review' }).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.reload();
      await open();
      await page.getByRole('button', { name: 'Use Review' }).click();
      await expect
        .poll(() => page.getByRole('textbox', { name: 'Write a message' }).inputValue())
        .toBe('Review this:');
      await page.getByRole('button', { name: 'Settings of replies: 1 set' }).waitFor();
      await open();
      await page.getByRole('button', { name: 'Delete Review' }).click();
      await page.getByText('No templates yet.').waitFor();
    });
  });
});

describe.skipIf(!ready)('a comparison', () => {
  test('starts with two models, grows to four, and keeps its models in the address', async () => {
    await visit('/playground?model=swift', async (page) => {
      await page.getByRole('button', { name: 'Compare models' }).click();
      await page.waitForURL(/compare=swift/);
      await page.getByText('2 models,').waitFor();
      const add = page.getByRole('button', { name: 'Add model' });
      await add.click();
      await page.getByText('3 models,').waitFor();
      await add.click();
      await page.getByText('4 models,').waitFor();
      expect(await add.isDisabled()).toBe(true);
      await expect.poll(() => page.getByRole('region').count()).toBeGreaterThanOrEqual(4);
      await page.getByRole('button', { name: 'Remove swift' }).click();
      await page.getByText('3 models,').waitFor();
      expect(page.url()).not.toContain('swift');
      expect(await violations(page)).toEqual([]);
    });
  });
});

describe.skipIf(!ready)('a chat', () => {
  test('shows code in colours, and the measured values and the failure of replies', async () => {
    await visit('/playground?chat=cnv_1', async (page) => {
      await page.locator('pre span.text-accent', { hasText: 'const' }).waitFor();
      await page.getByText('340 ms to first token').waitFor();
      await page.getByText('1.8 s in total').waitFor();
      await page.getByText('210 tokens out').waitFor();
      await page.getByRole('button', { name: 'Previous version' }).last().click();
      const failure = page.getByRole('alert').filter({ hasText: 'The reply failed' });
      await failure.getByText('upstream_failed', { exact: true }).waitFor();
      await failure.getByRole('button', { name: 'Copy the request id' }).waitFor();
    });
  });
});

describe.skipIf(!ready)('the choice of models', () => {
  test('shows traits and prices, which align', async () => {
    await visit('/playground', async (page) => {
      const list = await openModels(page);
      const choice = list.getByRole('option', { name: /^coder-max / });
      await choice.getByText('Reasoning, Tools, Files').waitFor();
      expect(await choice.textContent()).toMatch(/[^$]\$0\.30/);
      expect(await violations(page)).toEqual([]);
      const rightEdges = await list
        .getByText(/^\$\d/)
        .evaluateAll((prices) => prices.map((price) => Math.round(price.getBoundingClientRect().right)));
      expect(rightEdges.length).toBeGreaterThan(2);
      expect(new Set(rightEdges).size).toBe(1);
    });
  });

  test.each([390, 320])('is a sheet at %i px', async (width) => {
    await visit('/playground', async (page) => {
      await page.setViewportSize({ width, height: 800 });
      await page.getByRole('button', { name: /^Model:/ }).click();
      const list = page.getByRole('dialog', { name: 'Model' });
      await list.getByRole('option').first().waitFor();
      expect(await list.boundingBox()).toMatchObject({ x: 0, width });
      expect(await overflow(page)).toBe(0);
    });
  });
});

describe.skipIf(!ready)('the search of models', () => {
  test('finds a model by name, which Enter chooses', async () => {
    await visit('/playground', async (page) => {
      const list = await openModels(page);
      await page.keyboard.type('coder');
      const meant = list.getByRole('option', { selected: true });
      await expect.poll(() => meant.textContent()).toMatch(/^coder /);
      await page.keyboard.press('ArrowDown');
      await expect.poll(() => meant.textContent()).toMatch(/^coder-max /);
      const active = list.getByRole('combobox');
      const chosen = await meant.getAttribute('id');
      await expect.poll(() => active.getAttribute('aria-activedescendant')).toBe(chosen);
      await page.keyboard.press('Enter');
      const button = page.getByRole('button', { name: 'Model: coder-max' });
      await button.waitFor();
      await expect.poll(() => hasFocus(button)).toBe(true);
    });
  });

  test('finds models by trait, and says if none matches', async () => {
    await visit('/playground', async (page) => {
      const list = await openModels(page);
      await page.keyboard.type('vision');
      await list.getByRole('option', { name: /^balanced-vision / }).waitFor();
      await expect.poll(() => list.getByRole('option', { name: /^coder / }).count()).toBe(0);
      await page.keyboard.type(' nothing');
      await list.getByText('Nothing matches').waitFor();
      await page.keyboard.press('Escape');
      await list.waitFor({ state: 'detached' });
    });
  });
});
