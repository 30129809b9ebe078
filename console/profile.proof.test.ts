/** Profile, policy and the page of one user in a real browser. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PASSWORD } from './test/account-answers.ts';
import { ready } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

describe.skipIf(!ready)('times', () => {
  test('follow the zone of the profile on every page, not the zone of the device', async () => {
    for (const [zone, name] of [
      ['Pacific/Auckland', /GMT\+1[23]|NZ[DS]T/],
      ['Asia/Kolkata', /GMT\+5:30|IST/],
    ] as const) {
      house.stage.fake.state.timeZone = zone;
      await visit('/profile/security', async (page) => {
        const exact = await page.getByRole('main').locator('time').first().getAttribute('title');
        expect(exact).toMatch(name);
      });
    }
  });
});

describe.skipIf(!ready)('a new password', () => {
  const browsers = (page: Page) => page.getByRole('table', { name: 'Signed-in browsers' });
  async function change(page: Page): Promise<void> {
    await page.getByLabel('Current password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('New password', { exact: true }).fill('lamp fern 52 harbour');
    await press(page, page.getByRole('button', { name: 'Change password' }));
    await page.getByText('The password is changed').waitFor();
  }

  test('signs all other browsers out', async () => {
    await visit('/profile/security', async (page) => {
      await browsers(page).getByText('Firefox, Windows').waitFor();
      await change(page);
      await browsers(page).getByText('Firefox, Windows').waitFor({ state: 'detached' });
    });
  });

  test('leaves them signed in if the user chooses so', async () => {
    await visit('/profile/security', async (page) => {
      await page.getByLabel('Sign out all other browsers').uncheck();
      await change(page);
      await house.tab.settled();
      await browsers(page).getByText('Firefox, Windows').waitFor();
    });
  });
});

describe.skipIf(!ready)('linking an identity', () => {
  test('shows its outcome once, and removes it from the address', async () => {
    for (const [outcome, words] of [
      ['linked', 'The identity is linked.'],
      ['taken', 'This identity signs in to another account.'],
      ['limit_reached', 'No more identities can be linked.'],
      ['anything', 'The identity could not be linked.'],
    ] as const)
      await visit(`/profile/security?oidc=${outcome}`, async (page) => {
        await page.getByRole('alert').getByText(words).waitFor();
        await page.waitForURL(/\/profile\/security$/);
        await page.getByRole('alert').getByText(words).waitFor();
      });
  });
});

describe.skipIf(!ready)('the privacy policy', () => {
  test('shows its history, the changes, and an earlier version at an address with its number', async () => {
    await visit('/privacy-policy', async (page) => {
      await page.getByText('Version 1.1, in force since').waitFor();
      await press(page, page.getByText('Difference from version 1.0'));
      const changes = page.getByRole('region', { name: 'Changed lines' });
      await changes.getByText('− | Usage rows | 13 months |').waitFor();
      await changes.getByText('+ | Usage rows | 12 months |').waitFor();
      await page.getByRole('link', { name: 'Version 1.0' }).click();
      await page.waitForURL(/version=/);
      await page.getByText('This version was replaced by version 1.1.').waitFor();
      await page.reload();
      await page.getByText('Version 1.0, in force from').waitFor();
    });
  });

  test('prints its text alone, in light colours', async () => {
    await visit('/privacy-policy', async (page) => {
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      expect(await page.getByRole('heading', { name: 'How long data is kept' }).isVisible()).toBe(true);
      expect(await page.getByRole('banner').isVisible()).toBe(false);
      expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
      const theme = () => page.evaluate(() => document.documentElement.dataset['theme']);
      await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
      expect(await theme()).toBe('light');
      await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
      expect(await theme()).toBe('dark');
      await page.emulateMedia({ media: null });
    });
  });
});

describe.skipIf(!ready)('an administrator', () => {
  test('reads one user on one page, and ends one of its sessions with a reason', async () => {
    await visit('/admin/users', async (page) => {
      await page.setViewportSize({ width: 1280, height: 800 });
    });
    house.stage.fake.state.admin = true;
    await visit('/admin/users/usr_admin_1', async (page) => {
      await page.getByRole('heading', { level: 1, name: 'mara@lindgren.dev' }).waitFor();
      for (const name of [
        'Profile',
        'Wallet',
        'Usage in 30 days',
        'Keys',
        'Latest ledger entries',
        'Audit log',
      ])
        await page.getByRole('heading', { level: 2, name }).waitFor();
      const browsers = page.getByRole('table', { name: 'Signed-in browsers' });
      await press(page, browsers.getByRole('button', { name: 'Sign out' }).first());
      const dialog = page.getByRole('dialog', { name: 'Sign out Chrome, Linux' });
      await dialog.getByLabel('Reason').fill('Lost laptop');
      await press(page, dialog.getByRole('button', { name: 'Sign out' }));
      await dialog.waitFor({ state: 'detached' });
    });
  });

  test('reads which jobs run beside requests, which failed and why, and when each runs next', async () => {
    await visit('/admin/health', async (page) => {
      await page.getByText('Some parts are degraded.').waitFor();
      const jobs = page.getByRole('table', { name: 'Jobs' });
      const row = (name: string) => jobs.getByRole('row', { name: new RegExp(`^${name}`) });
      await row('Pools').getByText('canceling statement due to statement timeout').waitFor();
      await row('Ledger').getByText('Succeeded').waitFor();
      await row('Ledger').getByText('Last failed').waitFor();
      await row('Low balances').getByText('Has not run yet').waitFor();
      // One of a later release is called by its name.
      await row('a job to come').getByText('Succeeded').waitFor();
      await row('Leases').getByText('Overdue').waitFor();
      await expect.poll(() => row('Pools').getByRole('cell').last().textContent()).toMatch(/^in \d/);
    });
  });

  test('sees the newest events of the audit log checked at once, and all of them on demand', async () => {
    await visit('/admin/audit', async (page) => {
      await page.getByText('Chain intact, newest 1,000 events').waitFor();
      await press(page, page.getByRole('button', { name: 'Check all' }));
      await page.getByText('Chain intact, all 18,204 events').waitFor();
    });
  });
});

describe.skipIf(!ready)('an administrator', () => {
  test('deprecates a model with date, replacement and note, and sees the pools that froze it', async () => {
    await visit('/admin/models', async (page) => {
      const menu = page.getByRole('button', { name: 'Actions for coder', exact: true });
      await press(page, menu);
      await press(page, page.getByRole('menuitem', { name: /^Deprecate/ }));
      const dialog = page.getByRole('dialog', { name: /^(Deprecate|Retire) coder$/ });
      await dialog.getByLabel('Retirement date').fill('2099-12-24');
      await dialog.getByLabel('Replacement').selectOption('coder-max');
      await dialog.getByLabel('Note for users').fill('Answers become shorter.');
      await dialog.getByLabel('Reason').fill('Its provider ends it');
      await press(page, dialog.getByRole('button', { name: 'Deprecate', exact: true }));
      await dialog.waitFor({ state: 'detached' });
      await page.getByText('until 24 Dec 2099').waitFor();
      await press(page, menu);
      await press(page, page.getByRole('menuitem', { name: /^Retire/ }));
      await dialog.getByText('2 running pools include this model').waitFor();
      expect(await dialog.getByLabel('Replacement').inputValue()).toBe('mdl_coder-max');
      const note = dialog.getByLabel('Note for users');
      expect(await note.inputValue()).toBe('Answers become shorter.');
    });
    await visit('/pricing/coder', async (page) => {
      await page
        .getByText(/It stops answering on 24 Dec 2099.* Use coder-max instead\. Answers become shorter\./)
        .waitFor();
    });
  });

  test('sees what a request will cost in each group before a price or a ratio is saved', async () => {
    await visit('/admin/models', async (page) => {
      await press(page, page.getByRole('button', { name: 'Actions for swift' }));
      await press(page, page.getByRole('menuitem', { name: 'Edit…' }));
      const dialog = page.getByRole('dialog', { name: 'Edit swift' });
      await dialog.getByLabel('Price per request').fill('0.255');
      for (const price of ['$0.255', '$0.2295', '$0.204']) await dialog.getByText(price).waitFor();
    });
    await visit('/admin/groups', async (page) => {
      await press(page, page.getByRole('button', { name: 'Edit vip' }));
      const prices = page.getByRole('table', { name: 'Prices of this group' });
      const row = prices.getByRole('row', { name: /^flagship-max/ });
      await prices.getByRole('columnheader', { name: 'Model', exact: true }).waitFor();
      await page.getByLabel('Ratio', { exact: true }).fill('0.8567');
      // Without the invisible digits that align the column.
      const shown = async () => (await row.innerText()).replaceAll(/\s/g, '');
      await expect.poll(shown).toBe('flagship-max$0.54$0.51402');
    });
  });
});
