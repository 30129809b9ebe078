/** Adding credit in a real browser: by card and by deposit, by mouse and by keyboard, and automatically. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { overflow, ready, violations } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

/** Waits until the page listens to its top-up. */
const listened = (before: number): Promise<void> =>
  expect.poll(() => house.stage.fake.topUpListeners(), { timeout: 20_000 }).toBeGreaterThan(before);

describe.skipIf(!ready)('a top-up by card', () => {
  test('is begun by mouse, and its state is updated live after the return', async () => {
    const before = house.stage.fake.topUpListeners();
    await visit('/wallet', async (page) => {
      await page.getByRole('button', { name: 'Add credit' }).click();
      await page.getByRole('button', { name: '$100.00', exact: true }).click();
      await expect.poll(() => page.getByLabel('Amount', { exact: true }).inputValue()).toBe('100');
      await page.getByRole('button', { name: 'Continue to payment' }).click();
      await page.getByText('Waiting for the payment of $100.00.').waitFor();
      expect(await violations(page)).toEqual([]);
      await listened(before);
      house.stage.fake.changeTopUp({ state: 'CREDITED', credited: '100.00' });
      await page.getByText('$100.00 was credited.').waitFor();
      expect(house.stage.fake.state.begun).toMatchObject([{ amount: '100', saveCard: false }]);
    });
  });

  test('is begun by keyboard, with a typed amount and a saved card', async () => {
    await visit('/wallet', async (page) => {
      await press(page, page.getByRole('button', { name: 'Add credit' }));
      await page.getByLabel('Amount', { exact: true }).focus();
      await page.keyboard.press('ControlOrMeta+A');
      await page.keyboard.type('12.50');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      await page.keyboard.press('Enter');
      await page.getByText('Waiting for the payment of $12.50.').waitFor();
      expect(house.stage.fake.state.begun).toMatchObject([{ amount: '12.50', saveCard: true }]);
    });
  });

  test('is refused with the reason if its amount is outside the limits', async () => {
    await visit('/wallet?back=/pools', async (page) => {
      await page.getByLabel('Amount', { exact: true }).fill('1');
      await page.getByRole('button', { name: 'Continue to payment' }).click();
      await page.getByText('Enter an amount of $5.00 to $1,000.00.').waitFor();
    });
  });

  test('shows that nothing was charged after the user left the page of the processor', async () => {
    const { state } = house.stage.fake;
    Object.assign(state.topUps[0] ?? {}, { state: 'AWAITING_PAYMENT', checkoutUrl: 'http://localhost/pay' });
    await visit('/wallet?topup=top_1&cancelled=1', async (page) => {
      await page.getByText('You left the payment page. Nothing was charged.').waitFor();
      await page.getByRole('link', { name: 'Open the payment page' }).waitFor();
    });
  });
});

/** Adds credit on the wallet page by card; `begin` presses the buttons. */
async function payByCard(page: Page, begin: (name: string) => Promise<unknown>): Promise<void> {
  await begin('Add credit');
  await begin('$25.00');
  await check(page);
  await begin('Continue to payment');
  await page.getByText('Waiting for the payment of $25.00.').waitFor();
  await check(page);
}

/** Asks for a deposit address; `begin` presses the buttons. */
async function payByDeposit(page: Page, begin: (name: string) => Promise<unknown>): Promise<void> {
  await begin('Add credit');
  await press(page, page.getByRole('tab', { name: 'USDC' }));
  await begin('Show address');
  await page.getByRole('img', { name: /^Payment request/ }).waitFor();
  await check(page);
}

/** Expects that the page violates no rule of accessibility, and that it cuts nothing off. */
async function check(page: Page): Promise<void> {
  expect(await violations(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
}

const VIEWS = (['light', 'dark'] as const).flatMap((theme) =>
  (['mouse', 'keyboard'] as const).flatMap((hand) => [
    { theme, hand, screen: 'desktop', size: { width: 1280, height: 800 } },
    { theme, hand, screen: 'phone', size: { width: 360, height: 740 } },
  ]),
);

describe.skipIf(!ready).each(VIEWS)('by $hand on a $screen in the $theme', ({ theme, hand, size }) => {
  const inView = (flow: typeof payByCard) =>
    visit('/wallet', async (page) => {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme: theme });
      await flow(page, async (name) => {
        const button = page.getByRole('button', { name, exact: true });
        await (hand === 'mouse' ? button.click() : press(page, button));
      });
    });

  test('a payment by card begins', () => inView(payByCard));
  test('a deposit address is shown', () => inView(payByDeposit));
});

describe.skipIf(!ready)('a payment in a demo', () => {
  test('is marked as play money', async () => {
    house.stage.fake.state.playMoney = true;
    await visit('/wallet', async (page) => {
      await page.getByRole('button', { name: 'Add credit' }).click();
      await page.getByRole('dialog').getByText('play money: no card is charged').waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });
});

describe.skipIf(!ready)('a deposit', () => {
  test('gets an address with a QR code, by mouse and by keyboard', async () => {
    await visit('/wallet', async (page) => {
      await page.getByRole('button', { name: 'Add credit' }).click();
      await press(page, page.getByRole('tab', { name: 'USDC' }));
      await page.getByLabel('Token and blockchain').selectOption('USDC on Ethereum');
      await press(page, page.getByRole('button', { name: 'Show address' }));
      await page.getByRole('img', { name: 'Payment request for USDC on Ethereum' }).waitFor();
      await page.getByText('0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B').waitFor();
      await page.getByText('Smallest deposit: $10.00. Credited after 6 confirmations.').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByLabel('Token and blockchain').selectOption('USDC on Base');
      await page.getByRole('button', { name: 'Show address' }).waitFor();
    });
  });

  test('counts its confirmations live', async () => {
    const before = house.stage.fake.topUpListeners();
    await visit('/wallet?topup=top_1', async (page) => {
      await page.getByText('The deposit of $40.00 is being confirmed.').waitFor();
      await page.getByText('4 of 12 confirmations').waitFor();
      await listened(before);
      const { deposit } = house.stage.fake.state.topUps[0] ?? {};
      house.stage.fake.changeTopUp({ deposit: { ...deposit, confirmations: 9 } });
      await page.getByText('9 of 12 confirmations').waitFor();
    });
  });
});

describe.skipIf(!ready)('automatic top-up', () => {
  test('can be changed, and goes off when the card is removed', async () => {
    await visit('/wallet', async (page) => {
      await page.getByText('Adds $50.00 from Visa •••• 4242 when the balance falls below $10.00.').waitFor();
      const region = page.locator('section').filter({ hasText: 'Automatic top-up' });
      await region.getByRole('button', { name: 'Change' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Threshold').fill('30');
      expect(await violations(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('when the balance falls below $30.00.').waitFor();
      await region.getByRole('button', { name: 'Change' }).click();
      await dialog.getByRole('button', { name: 'Remove card' }).click();
      await page.getByText('Switched off because no card is saved.').waitFor();
    });
  });
});

describe.skipIf(!ready)('without a payment provider', () => {
  test('the page names the administrator instead of a method', async () => {
    house.stage.fake.state.methods = [];
    await visit('/wallet', async (page) => {
      await page.getByText('Ask an administrator of this gateway to add credit.').waitFor();
      expect(await page.getByRole('button', { name: 'Add credit' }).count()).toBe(0);
      expect(await page.getByText('Automatic top-up').count()).toBe(0);
      await page.getByText('Below $20.00').waitFor();
    });
  });
});
