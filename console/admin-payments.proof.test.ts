/** Payments for administrators in a real browser: stuck top-ups, refunds, settings, and blockchains. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PASSWORD } from './test/account-answers.ts';
import { ready, violations } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;
const PHONE = { width: 360, height: 800 };
const CARDS = '/admin/payments/cards';
const CHAINS = '/admin/payments/blockchains';
const sent = () => house.stage.fake.state.adminPayments.sent;
const buttonOf = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Opens the dialog of a button, and checks it in both themes and sizes. */
async function openDialog(page: Page, name: string): Promise<Locator> {
  await buttonOf(page, name).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  expect(await violations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await violations(page, true)).toEqual([]);
  await page.setViewportSize(PHONE);
  expect(await violations(page)).toEqual([]);
  return dialog;
}

describe.skipIf(!ready)('the list of top-ups', () => {
  test('shows only stuck ones with the reason, and follows its filters in the address', async () => {
    await visit('/admin/payments', async (page) => {
      await page.getByText('Card, automatic').waitFor();
      await buttonOf(page, 'Only stuck').click();
      await page.getByText('Card, automatic').waitFor({ state: 'detached' });
      await page.getByText('Open for more than two hours.').waitFor();
      await page.getByText('A refund failed. Its amount is in the wallet again.').waitFor();
      expect(page.url()).toContain('stuck=true');
      await page.getByRole('button', { name: /^Method Any/ }).click();
      await page.getByRole('menuitemradio', { name: 'Blockchain' }).click();
      await page.getByText('Open for more than two hours.').waitFor({ state: 'detached' });
      await page.getByText('The credit was taken back.').waitFor();
      await page.getByRole('combobox', { name: 'User, by email address' }).fill('root@gateway.example');
      await page.getByText('No top-up matches the filters.').waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });

  test('leads by keyboard to a top-up, and from there to its user', async () => {
    await visit('/admin/payments?user=usr_admin_2', async (page) => {
      await page.getByText('4 of 12 confirmations').waitFor();
      await press(page, page.getByRole('table').getByRole('link').first());
      await page.getByRole('heading', { name: 'Top-up of $40.00' }).waitFor();
      await page.getByText('38,104,422').waitFor();
      expect(await buttonOf(page, 'Refund…').count()).toBe(0);
      await press(page, page.getByRole('link', { name: 'ops@atlas.example' }));
      await page.getByRole('heading', { name: 'ops@atlas.example' }).waitFor();
    });
  });

  test('is accessible on a phone in the dark theme', async () => {
    await visit('/admin/payments', async (page) => {
      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.getByRole('list', { name: 'Top-ups' }).getByText('ops@atlas.example').first().waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });
});

const TOP_UP = '/admin/payments/top-ups/top_a2';

describe.skipIf(!ready)('a refund of play money', () => {
  test('names the gift credit, and no card', async () => {
    const [, topUp] = house.stage.fake.state.adminPayments.topUps;
    Object.assign(topUp ?? {}, { playMoney: true });
    await visit(TOP_UP, async (page) => {
      await page.getByText('Card, play money').waitFor();
      const dialog = await openDialog(page, 'Refund…');
      await dialog.getByText('This is play money').waitFor();
      await dialog.getByText('Gift credit in the wallet').waitFor();
      await dialog.getByText('$35.00').waitFor();
    });
  });
});

describe.skipIf(!ready)('a refund', () => {
  test('is sent for a part by keyboard, after the administrator has confirmed the password', async () => {
    const { state } = house.stage.fake;
    state.stale = true;
    await visit(TOP_UP, async (page) => {
      const dialog = await openDialog(page, 'Refund…');
      const amount = dialog.getByLabel('Amount');
      expect(await amount.inputValue()).toBe('80.00');
      await amount.fill('12.50');
      await dialog.getByLabel('Reason').fill('Agreed by mail.');
      await press(page, dialog.getByRole('button', { name: 'Refund $12.50' }));
      await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByText('$12.50 is being refunded').waitFor();
      await page.getByText('Agreed by mail.').waitFor();
      await page.getByText('$67.50').waitFor();
      const key: unknown = expect.stringMatching(/^[0-9a-f]{32}$/);
      expect(sent()).toEqual([
        { topUpId: 'top_a2', amount: '12.50', reason: 'Agreed by mail.', idempotencyKey: key },
      ]);
    });
  });

  test('needs a reason, and says that the wallet has too little cash', async () => {
    const [, topUp] = house.stage.fake.state.adminPayments.topUps;
    Object.assign(topUp ?? {}, { credited: '1250.00', refunded: '0.00' });
    await visit(TOP_UP, async (page) => {
      await buttonOf(page, 'Refund…').click();
      const dialog = page.getByRole('dialog');
      const refund = dialog.getByRole('button', { name: 'Refund $1,250.00' });
      await refund.click();
      expect(sent()).toEqual([]);
      await dialog.getByLabel('Reason').fill('Asked for it.');
      await refund.click();
      await dialog.getByText('The wallet has too little free credit.').waitFor();
      await refund.click();
      await expect.poll(() => sent().length).toBe(2);
      const keys = sent().map(({ idempotencyKey }) => idempotencyKey);
      expect(new Set(keys).size).toBe(2);
    });
  });
});

describe.skipIf(!ready)('payments by card', () => {
  test('get another address only together with its key, which is not shown again', async () => {
    await visit(CARDS, async (page) => {
      const dialog = await openDialog(page, 'Edit processor');
      await dialog.getByLabel('API address').fill('https://processor.example');
      await dialog.getByLabel('Reason').fill('Another processor.');
      await dialog.getByText('it is sent only to the address for which it was entered').waitFor();
      await press(page, dialog.getByRole('button', { name: 'Save' }));
      expect(sent()).toEqual([]);
      await dialog.getByLabel('API key').fill('sk_live_secret_9zzz');
      await dialog.getByLabel('The processor computes tax').check();
      await press(page, dialog.getByRole('button', { name: 'Save' }));
      await page.getByText('…9zzz').waitFor();
      expect(await page.content()).not.toContain('sk_live');
      expect(sent()).toMatchObject([
        { version: 4, apiAddress: 'https://processor.example', automaticTax: true, managedPayments: true },
      ]);
    });
  });

  test('save other terms', async () => {
    await visit(CARDS, async (page) => {
      const dialog = await openDialog(page, 'Edit terms');
      await dialog.getByLabel('Largest top-up').fill('750');
      await dialog.getByLabel('Suggested amounts').fill('20, 50 100');
      await dialog.getByLabel('Customers can pay by card').uncheck();
      await dialog.getByLabel('Reason').fill('A quieter start.');
      await dialog.getByRole('button', { name: 'Save' }).click();
      await page.getByText('$20.00, $50.00, $100.00').waitFor();
      expect(sent()).toMatchObject([{ cardEnabled: false, amountMax: '750', presets: ['20', '50', '100'] }]);
    });
  });

  test('add and remove webhook secrets', async () => {
    await visit(CARDS, async (page) => {
      const dialog = await openDialog(page, 'Add secret');
      await dialog.getByLabel('Name').fill('Second endpoint');
      await dialog.getByLabel('Secret').fill('whsec_long_enough_abcd');
      await dialog.getByLabel('Reason').fill('Rotation.');
      await press(page, dialog.getByRole('button', { name: 'Add secret' }));
      await page.getByText('…abcd').waitFor();
      const old = await openDialog(page, 'Remove Live endpoint');
      await old.getByLabel('Reason').fill('Rotation.');
      await press(page, old.getByRole('button', { name: 'Remove' }));
      await page.getByText('…k3Zd').waitFor({ state: 'detached' });
    });
  });
});

describe.skipIf(!ready)('blockchains', () => {
  test('show why they cannot be read, and credit again after an administrator resumes them', async () => {
    await visit(CHAINS, async (page) => {
      await page.getByText('The two RPC services differ.').waitFor();
      await page.getByText('4 blocks behind').waitFor();
      const dialog = await openDialog(page, 'Resume credits…');
      await dialog.getByLabel('Reason').fill('More confirmations.');
      await press(page, dialog.getByRole('button', { name: 'Resume credits' }));
      await page.getByText('No deposit of Base is credited.').waitFor({ state: 'detached' });
    });
  });

  test('keep their RPC services unless both are entered', async () => {
    await visit(CHAINS, async (page) => {
      const dialog = await openDialog(page, 'Edit Base');
      await dialog.getByText('Leave both empty to keep base.north.example, base.south.example.').waitFor();
      await dialog.getByLabel('Confirmations').fill('24');
      await dialog.getByLabel('Reason').fill('After a reorganisation.');
      await press(page, dialog.getByRole('button', { name: 'Save' }));
      await dialog.waitFor({ state: 'detached' });
      expect(sent()).toMatchObject([{ chainId: 8453, confirmations: 24, explorerUrl: null }]);
      expect(sent()[0]).not.toHaveProperty('rpcAddresses');
    });
  });
});

describe.skipIf(!ready)('a new blockchain', () => {
  test('needs two RPC services', async () => {
    await visit(CHAINS, async (page) => {
      const dialog = await openDialog(page, 'Add blockchain');
      await dialog.getByLabel('Name').fill('Polygon');
      await dialog.getByLabel('Chain id').fill('137');
      await dialog.getByLabel('Confirmations').fill('64');
      await dialog.getByLabel('First RPC service').fill('https://a.example/key');
      await dialog.getByLabel('Second RPC service').fill('https://b.example/key');
      await dialog.getByLabel('Reason').fill('Asked for by customers.');
      await press(page, dialog.getByRole('button', { name: 'Add blockchain' }));
      await dialog.waitFor({ state: 'detached' });
      const rpcAddresses = ['https://a.example/key', 'https://b.example/key'];
      expect(sent()).toMatchObject([{ chainId: 137, name: 'Polygon', enabled: true, rpcAddresses }]);
    });
  });
});

describe.skipIf(!ready)('customers', () => {
  test('pay in more tokens, and to addresses of another key, after an administrator adds both', async () => {
    await visit(CHAINS, async (page) => {
      const dialog = await openDialog(page, 'Edit USDT on Base');
      await dialog.getByLabel('Offer new addresses for this token').check();
      await dialog.getByLabel('Reason').fill('Asked for by customers.');
      await press(page, dialog.getByRole('button', { name: 'Save' }));
      await page.getByText('Disabled').waitFor({ state: 'detached' });
      const key = await openDialog(page, 'Set key');
      await key.getByLabel('Extended public key').fill('xpub6C');
      await key.getByLabel('Reason').fill('A new wallet.');
      await press(page, key.getByRole('button', { name: 'Set key' }));
      await page.getByText('77aa09b1c2d3e4f5').waitFor();
      expect(sent()).toMatchObject([{ symbol: 'USDT', enabled: true }, { extendedKey: 'xpub6C' }]);
    });
  });
});
