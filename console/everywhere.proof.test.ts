/** Rules for every page: its address restores its state, money is not needed, effects are figures. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { SECRET } from './test/key-answers.ts';
import { ready } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();

interface Choice {
  where: string;
  /** The choice, as in the name of the test. */
  what: string;
  choose(page: Page): Promise<unknown>;
  /** Matches the address after the choice. */
  address: RegExp;
  /** Resolves when the page shows the choice; it does not show it without the choice. */
  shows(page: Page): Promise<unknown>;
}

async function filter(page: Page, name: string, option: string): Promise<void> {
  await page.getByRole('button', { name: new RegExp(`^${name} Any`) }).click();
  await page.getByRole('menuitemradio', { name: option }).click();
}

const withoutFilter = (page: Page, name: string) =>
  page.getByRole('button', { name: `Remove the filter ${name}` }).waitFor();
const heldBy = (page: Page, label: string, value: string) =>
  expect.poll(() => page.getByLabel(label, { exact: true }).inputValue()).toBe(value);

const CHOICES: readonly Choice[] = [
  {
    where: '/keys',
    what: 'a filter',
    choose: (page) => filter(page, 'State', 'Disabled'),
    address: /state=DISABLED/,
    shows: (page) => withoutFilter(page, 'State'),
  },
  {
    where: '/keys',
    what: 'the drawer of a new key',
    choose: (page) => page.getByRole('button', { name: 'Create key' }).click(),
    address: /open=create/,
    shows: (page) => page.getByRole('dialog', { name: 'Create key' }).waitFor(),
  },
  {
    where: '/keys?search=Staging',
    what: 'the drawer of a key',
    choose: async (page) => {
      await page.getByRole('button', { name: 'Actions for Staging' }).click();
      await page.getByRole('menuitem', { name: 'Edit…' }).click();
    },
    address: /search=Staging.*open=key_5/,
    shows: (page) => page.getByRole('dialog', { name: 'Edit Staging' }).waitFor(),
  },
  {
    where: '/usage',
    what: 'a range',
    choose: (page) => page.getByText('7 days', { exact: true }).click(),
    // The router writes a text that reads as a number in quotes.
    address: /days=%227%22/,
    shows: (page) => page.getByRole('radio', { name: '7 days', checked: true }).waitFor(),
  },
  {
    where: '/usage',
    what: 'the receipt of a request',
    choose: (page) => page.getByRole('link', { name: '…000003' }).click(),
    address: /receipt=req_01KAGX000003/,
    shows: (page) => page.getByRole('dialog', { name: 'Receipt' }).waitFor(),
  },
  {
    where: '/wallet',
    what: 'a filter',
    choose: (page) => filter(page, 'Kind', 'Pool renewal'),
    address: /kind=POOL_RENEWAL/,
    shows: (page) => withoutFilter(page, 'Kind'),
  },
  {
    where: '/playground',
    what: 'a search of the chats',
    choose: (page) => page.getByLabel('Search chats').fill('invoice'),
    address: /find=invoice/,
    shows: (page) => heldBy(page, 'Search chats', 'invoice'),
  },
  {
    where: '/pricing',
    what: 'an order',
    choose: (page) => page.getByLabel('Order').selectOption('cheapest'),
    address: /sort=cheapest/,
    shows: (page) => expect.poll(() => namesIn(page)).toEqual(['budget', 'budget-plus', 'swift']),
  },
  {
    where: '/pricing/coder',
    what: 'a tab',
    choose: (page) => page.getByText('Codex', { exact: true }).click(),
    address: /client=CODEX/,
    shows: (page) => page.getByRole('radio', { name: 'Codex', checked: true }).waitFor(),
  },
  {
    where: '/admin/users',
    what: 'a filter',
    choose: (page) => filter(page, 'State', 'Suspended'),
    address: /state=SUSPENDED/,
    shows: (page) => withoutFilter(page, 'State'),
  },
];

/** The first models of the price list. */
async function namesIn(page: Page): Promise<string[]> {
  const codes = await page.getByRole('table', { name: 'Pricing' }).locator('a code').allTextContents();
  return codes.slice(0, 3);
}

describe.skipIf(!ready)('the address', () => {
  test.each(CHOICES)('of $where holds $what: a link restores it, and Back leaves it', async (choice) => {
    await house.visit(choice.where, async (page) => {
      const before = page.url();
      await choice.choose(page);
      await page.waitForURL(choice.address);
      await choice.shows(page);
      await page.reload();
      await choice.shows(page);
      await page.goBack();
      await page.waitForURL(before);
    });
  });
});

const WALLETS = [
  { wallet: 'an empty wallet', money: { cash: '0', gift: '0', held: '0', available: '0', balance: '0' } },
  {
    wallet: 'a wallet that is frozen because of a debt',
    money: {
      cash: '0',
      gift: '0',
      held: '0',
      available: '0',
      balance: '0',
      receivable: '12.50',
      frozen: true,
    },
  },
];

describe.skipIf(!ready).each(WALLETS)('with $wallet', ({ money }) => {
  test('keys are created, figures are shown and exported, data is downloaded and deleted', async () => {
    house.stage.fake.state.money = money;
    await house.visit('/keys', async (page) => {
      await press(page, page.getByRole('button', { name: 'Create key' }));
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Without money');
      await page.keyboard.press('Enter');
      await press(page, page.getByRole('dialog').getByRole('button', { name: 'Reveal', exact: true }));
      await page.getByText(SECRET).first().waitFor();
    });
    for (const [where, heading] of [
      ['/wallet', 'Entries'],
      ['/usage', 'Requests'],
    ] as const)
      await house.visit(where, async (page) => {
        await page.getByRole('heading', { name: heading }).waitFor();
        const rows = page.getByRole('table', { name: heading }).getByRole('row');
        await expect.poll(() => rows.count()).toBeGreaterThan(5);
        expect(await page.getByRole('button', { name: 'Export' }).isEnabled()).toBe(true);
      });
    await house.visit('/profile/privacy', async (page) => {
      expect(await page.getByRole('button', { name: 'Download your data' }).isEnabled()).toBe(true);
      await press(page, page.getByRole('button', { name: 'Delete all chats…' }));
      await page.getByRole('dialog').getByRole('textbox').fill('DELETE');
      await press(page, page.getByRole('dialog').getByRole('button', { name: 'Delete all' }));
      await page.getByText('Chats deleted: 2').first().waitFor();
    });
  });
});

interface Act {
  act: string;
  where: string;
  /** The button, and the entry of its menu if it opens a menu. */
  button: string;
  entry?: RegExp;
  /** Texts that the page shows before the act. */
  says: readonly RegExp[];
}

const ACTS: readonly Act[] = [
  {
    act: 'disabling a key',
    where: '/keys',
    button: 'Actions for Production API',
    says: [/^Disable.*\d+ came in the last 7 days\.$/],
  },
  {
    act: 'marking a key as leaked',
    where: '/keys',
    button: 'Actions for Production API',
    entry: /^Mark as leaked/,
    says: [/^Requests with this key\d+$/, /^Client IP addressesat least \d+$/],
  },
  {
    act: 'rotating a key',
    where: '/keys',
    button: 'Actions for Production API',
    entry: /^Rotate/,
    says: [/^Requests with this key\d+$/],
  },
  {
    act: 'revoking a token',
    where: '/profile/tokens',
    button: 'Revoke…',
    says: [/^Last used1\s?hr?\.? ago$/],
  },
  {
    act: 'closing the account',
    where: '/profile',
    button: 'Close account…',
    says: [/^Keys that stop\d+$/, /^Running pools that end2$/, /^Remaining balance\$221\.50$/],
  },
  {
    act: 'deleting all chats',
    where: '/profile/privacy',
    button: 'Delete all chats…',
    says: [/^Playground chats\d+$/],
  },
  {
    act: 'signing a user out',
    where: '/admin/users/usr_admin_1',
    button: 'Actions for mara@lindgren.dev',
    entry: /^Sign out everywhere/,
    says: [/^Enabled keys\d+$/, /^Signed-in browsers2$/],
  },
];

describe.skipIf(!ready)('an act that cannot be undone', () => {
  test.each(ACTS)('shows its effect in figures: $act', async ({ where, button, entry, says }) => {
    await house.visit(where, async (page) => {
      await page.getByRole('button', { name: button }).first().click();
      if (entry) await page.getByRole('menuitem', { name: entry }).click();
      const place = page.locator('[role=dialog] dl > div, [role=menuitem]');
      for (const words of says) await place.filter({ hasText: words }).first().waitFor();
    });
  });
});
