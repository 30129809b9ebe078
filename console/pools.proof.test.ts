/** Dedicated pools in a real browser: buying by mouse and by keyboard, renewing, and the storefront live. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { SECRET } from './test/key-answers.ts';
import { ready, violations } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

const MODELS = ['flagship', 'coder', 'balanced', 'swift'];

async function fillIn(page: Page): Promise<void> {
  for (const name of MODELS) await page.getByRole('checkbox', { name, exact: true }).check();
  await page.getByLabel('Subdomain', { exact: true }).fill('orion');
  await page.getByLabel('Name', { exact: true }).fill('Orion');
}

const payButton = (page: Page, total: string) =>
  page.getByRole('button', { name: `Pay ${total}`, exact: true });

describe.skipIf(!ready)('a pool that a browser with a wrong clock buys', () => {
  test('is paid although the clock is an hour fast', async () => {
    await visit('/pools', async (page) => {
      await page.clock.setSystemTime(Date.now() + 3_600_000);
      await fillIn(page);
      await page.getByText('Price held for').waitFor();
      await payButton(page, '$118.00').click();
      await page.getByRole('heading', { name: 'Paid. The pool works within seconds.' }).waitFor();
    });
  });
});

describe.skipIf(!ready)('a pool', () => {
  test('is bought by mouse for the total on the button; its first key shows its own address', async () => {
    await visit('/pools', async (page) => {
      await fillIn(page);
      await page.getByText('4 picked').waitFor();
      await page.getByText('3 included, 1 more at $19.00 each').waitFor();
      await page.locator('#pool-subdomain-below').getByText('Available').waitFor();
      await page.getByText('Price held for').waitFor();
      await payButton(page, '$118.00').click();
      await page.getByRole('heading', { name: 'Paid. The pool works within seconds.' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/pools/pool_3');
      const receipt = page.getByRole('region', { name: 'Receipt', exact: true });
      await expect.poll(() => receipt.textContent()).toContain('118.00');
      await page.getByRole('button', { name: 'Create pool key' }).click();
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Orion runs');
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Reveal', exact: true }).click();
      await page.getByLabel('The secret').waitFor();
      expect(await page.getByLabel('The secret').textContent()).toBe(SECRET);
      expect(await page.getByRole('dialog').textContent()).toContain('https://orion.gateway.example');
      expect(await violations(page)).toEqual([]);
    });
  });

  test('is bought by keyboard alone', async () => {
    await visit('/pools', async (page) => {
      const box = page.getByRole('checkbox', { name: 'swift', exact: true });
      await box.focus();
      await page.keyboard.press('Space');
      await page.getByLabel('Subdomain', { exact: true }).focus();
      await page.keyboard.type('night');
      await page.keyboard.press('Tab');
      await page.keyboard.type('Night');
      await payButton(page, '$99.00').waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Night', exact: true }).waitFor();
      expect(house.stage.fake.state.pools.map(({ subdomain }) => subdomain)).toContain('night');
    });
  });
});

describe.skipIf(!ready)('a pool', () => {
  test('is not bought while an input is missing; the page focuses the first missing input', async () => {
    await visit('/pools', async (page) => {
      await press(page, page.getByRole('button', { name: 'Buy', exact: true }));
      await page.getByText('Pick at least one model.').waitFor();
      await page.getByRole('checkbox', { name: 'swift', exact: true }).check();
      await page.getByLabel('Subdomain', { exact: true }).fill('atlas');
      await page.getByRole('button', { name: 'Use atlas-2' }).click();
      await page.locator('#pool-subdomain-below').getByText('Available').waitFor();
      await payButton(page, '$99.00').click();
      await page.getByText('Give the pool a name.').waitFor();
      await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('pool-name');
      expect(house.stage.fake.state.pools).toHaveLength(2);
    });
  });
  test.each([
    ['PRICE_CHANGED', 'The price has changed. You were not charged. Review the new price.'],
    ['QUOTE_EXPIRED', 'The quote has expired. You were not charged. Review the new price.'],
    ['SUBDOMAIN_TAKEN', 'Another pool uses this subdomain. Choose another.'],
    ['STOREFRONT_CLOSED', 'The storefront has closed. You were not charged.'],
  ])('shows the refusal %s, and keeps the input', async (code, words) => {
    await visit('/pools', async (page) => {
      await fillIn(page);
      house.stage.fake.state.refusal = code;
      await payButton(page, '$118.00').click();
      await page.getByText(words).first().waitFor();
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Orion');
      await payButton(page, '$118.00').waitFor();
      expect(house.stage.fake.state.pools).toHaveLength(2);
    });
  });

  test('cannot be paid if it costs more than the cash: the page shows how much is missing', async () => {
    house.stage.fake.state.cash = 5_000;
    await visit('/pools?models=%5B%22swift%22%5D', async (page) => {
      await page.getByText('Your cash is $49.00 short. You were not charged.').waitFor();
      await page.getByRole('link', { name: 'Go to the wallet' }).waitFor();
    });
  });
});

describe.skipIf(!ready)('an existing pool', () => {
  test('is renewed from the end of its period, also while the storefront is closed', async () => {
    house.stage.fake.state.storefront.state = 'CLOSED';
    await visit('/pools/pool_1', async (page) => {
      await press(page, page.getByRole('button', { name: 'Renew', exact: true }));
      const pay = page.getByRole('dialog').getByRole('button', { name: 'Pay $99.00' });
      await pay.waitFor();
      expect(await violations(page)).toEqual([]);
      await press(page, pay);
      await page.getByText('Atlas renewed').waitFor();
      await page.getByRole('table', { name: 'Receipts' }).getByText('Period 2').waitFor();
    });
  });

  test('is renamed, and renews itself when that is switched on', async () => {
    await visit('/pools/pool_1', async (page) => {
      await page.getByRole('button', { name: 'Rename' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Atlas two');
      await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
      await page.getByRole('heading', { name: 'Atlas two' }).waitFor();
      await press(page, page.getByRole('switch', { name: 'Renew automatically' }));
      await page.getByRole('switch', { name: 'Renew automatically' }).click();
      await page.getByText('On', { exact: true }).waitFor();
      expect(house.stage.fake.state.pools.find(({ id }) => id === 'pool_1')?.autoRenew).toBe(true);
    });
  });
});

describe.skipIf(!ready)('the storefront', () => {
  test('shows at once that it closed during a purchase; the choice stays, and paying is off', async () => {
    await visit('/pools', async (page) => {
      await fillIn(page);
      await payButton(page, '$118.00').waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
      house.stage.fake.turnStorefront('CLOSED');
      await page.getByText('Storefront closed', { exact: true }).waitFor();
      await page.getByText('The storefront is closed, so no pool can be bought now.').waitFor();
      expect(await payButton(page, '$118.00').count()).toBe(0);
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Orion');
      // A row that the bar of the page half covers has controls that are half as high.
      await page.evaluate(() => scrollTo(0, 0));
      expect(await violations(page)).toEqual([]);
      await press(page, page.getByRole('button', { name: 'Notify me' }));
      await page.getByText('You will get one mail when the storefront opens.').waitFor();
      expect(house.stage.fake.state.waitsForStorefront).toBe(true);
      house.stage.fake.turnStorefront('OPEN');
      await payButton(page, '$118.00').waitFor();
    });
  });

  test('is opened by an administrator, who first confirms the prices and gives a reason', async () => {
    house.stage.fake.state.storefront.state = 'CLOSED';
    await visit('/admin/storefront', async (page) => {
      await press(page, page.getByRole('button', { name: 'Open…' }));
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('I confirm these prices').check();
      await dialog.getByLabel('Message').fill('On sale until Friday.');
      await dialog.getByLabel('Reason', { exact: true }).fill('Launch');
      expect(await violations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Open storefront' }).click();
      await page.getByText('Storefront open', { exact: true }).waitFor();
      await page.getByText('On sale until Friday.').waitFor();
      expect(house.stage.fake.state.storefront).toMatchObject({ state: 'OPEN', pricesConfirmed: true });
    });
  });
});

describe.skipIf(!ready)('administrators', () => {
  test('change the terms of the storefront; give pools another cap, and end them with a reason', async () => {
    await visit('/admin/storefront', async (page) => {
      await page.getByRole('button', { name: 'Edit terms' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Each additional model').fill('25');
      await dialog.getByLabel('Requests in a pool cost $0.00').uncheck();
      await dialog.getByLabel('Reason', { exact: true }).fill('New year');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Cost their normal price', { exact: true }).waitFor();
      expect(house.stage.fake.state.storefront).toMatchObject({
        extraModelPrice: '25',
        poolRequestsFree: false,
      });
    });
    await visit('/admin/pools', async (page) => {
      await page.getByRole('button', { name: 'Actions for Atlas' }).click();
      await page.getByRole('menuitem', { name: 'Cap…' }).click();
      await page.getByRole('dialog').getByLabel('Cap, requests per minute').fill('90');
      await page.getByRole('dialog').getByLabel('Reason', { exact: true }).fill('More nodes');
      await page.getByRole('dialog').getByRole('button', { name: 'Set cap' }).click();
      await page.getByText('41 / 90').waitFor();
      await page.getByRole('button', { name: 'Actions for Atlas' }).click();
      await page.getByRole('menuitem', { name: 'Cancel…' }).click();
      await page.getByRole('dialog').getByLabel('Reason', { exact: true }).fill('Abuse');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel pool' }).click();
      await page.getByText('Cancelled', { exact: true }).waitFor();
      expect(house.stage.fake.state.pools.find(({ name }) => name === 'Atlas')?.state).toBe('CANCELLED');
    });
  });
});

describe.skipIf(!ready)('money', () => {
  test('is exported as a file that the service writes, from the log and from the ledger', async () => {
    for (const [where, file] of [
      ['/usage', '/export/usage.csv'],
      ['/wallet', '/export/ledger.csv'],
    ] as const) {
      await visit(where, async (page) => {
        await page.getByRole('button', { name: 'Export' }).click();
        const download = page.waitForEvent('download');
        await page.getByRole('menuitem', { name: 'As CSV' }).click();
        expect(new URL((await download).url()).pathname).toBe(file);
      });
    }
  });

  test('has a receipt for each request, at an address with the id of the request', async () => {
    await visit('/usage?request=req_01KAGX000002', async (page) => {
      const receipt = page.getByRole('dialog', { name: 'Receipt' });
      await receipt.getByText('The full answer was delivered.').waitFor();
      await receipt.getByText('txn_01KAGX').waitFor();
      await press(page, receipt.getByRole('button', { name: 'Close' }));
      await receipt.waitFor({ state: 'detached' });
    });
  });

  test('shows the attempts of a request in its receipt, and their upstreams to administrators', async () => {
    await visit('/usage?request=req_01KAGX000002', async (page) => {
      const tried = page.getByRole('region', { name: 'Upstreams tried' });
      await tried.getByText('1. Skipped: failed too often').waitFor();
      await tried.getByText('2. Failed').waitFor();
      await tried.getByText('upstream_busy').waitFor();
      await tried.getByText('3. Stopped: another upstream answered first').waitFor();
      await tried.getByText('4. Answered').waitFor();
      expect(await tried.innerText()).not.toMatch(/east|north|south|west|429|\$/);
      house.stage.fake.state.admin = true;
      await page.reload();
      await tried.getByText('north · vendor-large-2').waitFor();
      await tried.getByText('HTTP 429').waitFor();
      await tried.getByText('$0.0125').waitFor();
    });
  });
});
