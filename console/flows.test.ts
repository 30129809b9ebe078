/** What moves money or shows a secret, each by mouse alone and by keyboard alone. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PASSWORD, TOKEN_SECRET, TOTP_CODE, TOTP_SECRET } from './test/account-answers.ts';
import { SECRET } from './test/key-answers.ts';
import { giveAuthenticator } from './test/authenticator.ts';
import { ready } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

/** A way to work a page. Both type text; the keyboard reaches everything without the pointer. */
interface Hand {
  hand: string;
  /** Works a button, a link or an entry of a menu. */
  use(page: Page, control: Locator): Promise<void>;
  tick(page: Page, box: Locator): Promise<void>;
  type(page: Page, field: Locator, text: string): Promise<void>;
}

const HANDS: readonly Hand[] = [
  {
    hand: 'mouse',
    use: (_page, control) => control.click(),
    // The box itself may be drawn by its words.
    tick: (_page, box) => box.locator('xpath=ancestor::label').click(),
    type: async (page, field, text) => {
      await field.click();
      await page.keyboard.type(text);
    },
  },
  {
    hand: 'keyboard',
    use: press,
    tick: async (page, box) => {
      await box.focus();
      await page.keyboard.press('Space');
    },
    type: async (page, field, text) => {
      await field.focus();
      await page.keyboard.type(text);
    },
  },
];

const house = houseOfTests();

const dialogOf = (page: Page, name?: string | RegExp) => page.getByRole('dialog', name ? { name } : {});
const buttonIn = (place: Page | Locator, name: string | RegExp) =>
  place.getByRole('button', { name, exact: true });

/** Puts a secret away that is shown once; afterwards nothing of it is on the page. */
async function store(page: Page, { use, tick }: Hand, secret: string): Promise<void> {
  await page.getByText(secret).first().waitFor();
  await tick(page, page.getByLabel('I stored it in a safe place'));
  await use(page, buttonIn(page, 'Done'));
  await dialogOf(page).waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(secret);
}

async function openMenu(page: Page, { use }: Hand, menu: string, entry: string | RegExp): Promise<void> {
  await use(page, page.getByRole('button', { name: menu }));
  await use(page, page.getByRole('menuitem', { name: entry }));
}

describe.skipIf(!ready).each(HANDS)('by $hand alone, a key', (hand) => {
  const { use, type } = hand;

  test('is created, revealed and put away', async () => {
    await house.visit('/keys', async (page) => {
      await use(page, buttonIn(page, 'Create key'));
      await type(page, page.getByLabel('Name', { exact: true }), 'Night batch');
      await use(page, buttonIn(dialogOf(page), 'Create key'));
      await use(page, buttonIn(dialogOf(page), 'Reveal'));
      await store(page, hand, SECRET);
      await page.getByText('Night batch').first().waitFor();
    });
  });
});

describe.skipIf(!ready).each(HANDS)('by $hand alone, a key in use', (hand) => {
  const { use, tick } = hand;

  test('is rotated: the new secret is shown once; the page says that the old one works on', async () => {
    await house.visit('/keys', async (page) => {
      await openMenu(page, hand, 'Actions for Staging', 'Rotate…');
      const dialog = dialogOf(page, 'Rotate Staging');
      await tick(page, dialog.getByRole('radio', { name: '1 h' }));
      await use(page, buttonIn(dialog, 'Rotate'));
      await use(page, buttonIn(dialogOf(page), 'Reveal'));
      await store(page, hand, SECRET);
      const banner = page.getByText('Staging is rotating.').locator('..');
      await banner.getByText('It has not been used since the new one was revealed.').waitFor();
      const other = page.getByText('Codex in CI is rotating.').locator('..');
      await other.getByText(/It was last used \d+ min ago\./).waitFor();
    });
  });

  test('has its old secret ended early: the page says on how many nodes', async () => {
    await house.visit('/keys', async (page) => {
      const banner = page.getByText('Codex in CI is rotating.');
      await use(page, buttonIn(page, 'Stop now…'));
      const dialog = dialogOf(page, 'Stop the old secret of Codex in CI');
      await dialog.getByText(/It was last used \d+ min ago\./).waitFor();
      await use(page, buttonIn(dialog, 'Stop now'));
      await dialog.waitFor({ state: 'detached' });
      await page
        .getByText(/stopped, applied on 2 of 3 nodes\. Last contact of others: us-1 \(/)
        .first()
        .waitFor();
      await banner.waitFor({ state: 'detached' });
      await use(page, page.getByRole('button', { name: 'Actions for Codex in CI' }));
      await page.getByRole('menuitem', { name: 'Rotate…' }).waitFor();
      expect(await page.getByRole('menuitem', { name: 'Stop the old secret…' }).count()).toBe(0);
    });
  });

  test('is disabled, and enabled again by Undo', async () => {
    await house.visit('/keys', async (page) => {
      await openMenu(page, hand, 'Actions for Staging', /^Disable/);
      await page.getByText('Staging disabled, applied on 3 of 3 nodes').first().waitFor();
      await use(page, buttonIn(page, 'Undo'));
      await page.getByText('Staging enabled').first().waitFor();
    });
  });
});

describe.skipIf(!ready).each(HANDS)('by $hand alone, a pool', ({ use }) => {
  test('is renewed for the total on the button', async () => {
    await house.visit('/pools/pool_1', async (page) => {
      await use(page, buttonIn(page, 'Renew'));
      await use(page, buttonIn(dialogOf(page), 'Pay $99.00'));
      await page.getByText('Atlas renewed').waitFor();
    });
  });
});

describe.skipIf(!ready).each(HANDS)('by $hand alone, an access token', (hand) => {
  const { use, tick, type } = hand;

  test('is made, shown once and put away', async () => {
    await house.visit('/profile/tokens', async (page) => {
      await use(page, buttonIn(page, 'Create token'));
      const dialog = dialogOf(page, 'Create token');
      await type(page, dialog.getByLabel('Name'), 'Nightly report');
      await tick(page, dialog.getByLabel('Read usage'));
      await use(page, buttonIn(dialog, 'Create token'));
      await store(page, hand, TOKEN_SECRET);
      await page.getByText('Nightly report').first().waitFor();
    });
  });

  test('is revoked after one question', async () => {
    await house.visit('/profile/tokens', async (page) => {
      await use(page, buttonIn(page, 'Revoke…'));
      await use(page, buttonIn(dialogOf(page), 'Revoke'));
      await page.getByText('Billing export revoked').first().waitFor();
      await page.getByText('Expired and revoked tokens are listed for 90 days.').waitFor();
    });
  });
});

describe.skipIf(!ready).each(HANDS)('by $hand alone, a passkey', ({ use, type }) => {
  test('is added once; a second one on the same device is refused in words', async () => {
    await house.visit('/profile/security', async (page) => {
      const { takeAway } = await giveAuthenticator(page);
      const dialog = dialogOf(page, 'Add a passkey');
      await use(page, buttonIn(page, 'Add a passkey…'));
      await dialog.getByLabel('Name').fill('');
      await type(page, dialog.getByLabel('Name'), 'Work laptop');
      await use(page, buttonIn(dialog, 'Add'));
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('table', { name: 'Passkeys' }).getByText('Work laptop').waitFor();
      await use(page, buttonIn(page, 'Add a passkey…'));
      await use(page, buttonIn(dialog, 'Add'));
      await dialog.getByText('This device already has a passkey for this account.').waitFor();
      expect(house.stage.fake.state.passkeys.map(({ name }) => name)).toEqual(['Laptop', 'Work laptop']);
      await takeAway();
    });
  });
});

describe.skipIf(!ready).each(HANDS)('by $hand alone, an authenticator app', (hand) => {
  const { use, type } = hand;

  test('is set up, and its recovery codes are shown once', async () => {
    await house.visit('/profile/security', async (page) => {
      await use(page, buttonIn(page, 'Set up…'));
      await page.getByText(TOTP_SECRET).waitFor();
      await type(page, page.getByLabel('Code from the app'), TOTP_CODE);
      await use(page, buttonIn(dialogOf(page), 'Turn on'));
      const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
      await codes.first().waitFor();
      expect(await codes.count()).toBe(10);
      await store(page, hand, (await codes.first().textContent()) ?? '');
      await page.getByText('10 recovery codes are left.').waitFor();
      expect(await page.content()).not.toContain(TOTP_SECRET);
    });
  });

  test('is turned off with the password and a code', async () => {
    house.stage.fake.state.totp = true;
    await house.visit('/profile/security', async (page) => {
      await use(page, buttonIn(page, 'Turn off…'));
      await type(page, dialogOf(page).getByLabel('Password', { exact: true }), PASSWORD);
      await type(page, dialogOf(page).getByLabel('Code from your authenticator app'), TOTP_CODE);
      await use(page, buttonIn(dialogOf(page), 'Turn off'));
      await page.getByText('Off. Signing in only needs the password.').waitFor();
    });
  });
});
