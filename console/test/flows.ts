/** Tests of the flows that move money or show a secret, with one input device. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PASSWORD, TOKEN_SECRET, TOTP_CODE, TOTP_SECRET } from './account-answers.ts';
import { SECRET } from './key-answers.ts';
import { giveAuthenticator } from './authenticator.ts';
import { ready } from './browser.ts';
import { houseOfTests, press } from './visit.ts';
import type { House } from './visit.ts';

/** An input device. Each one types text; the keyboard reaches every control without the pointer. */
export interface Device {
  name: string;
  /** Activates a button, a link or an entry of a menu. */
  use(page: Page, control: Locator): Promise<void>;
  tick(page: Page, box: Locator): Promise<void>;
  type(page: Page, field: Locator, text: string): Promise<void>;
}

export const MOUSE: Device = {
  name: 'mouse',
  use: (_page, control) => control.click(),
  // The box itself may be hidden behind its label.
  tick: (_page, box) => box.locator('xpath=ancestor::label').click(),
  type: async (page, field, text) => {
    await field.click();
    await page.keyboard.type(text);
  },
};

export const KEYBOARD: Device = {
  name: 'keyboard',
  use: press,
  tick: async (page, box) => {
    await box.focus();
    await page.keyboard.press('Space');
  },
  type: async (page, field, text) => {
    await field.focus();
    await page.keyboard.type(text);
  },
};

/** Defines the tests of all flows with this device. */
export function describeFlows(device: Device): void {
  const setting = { device, house: houseOfTests() };
  describeKey(setting);
  describeKeyInUse(setting);
  describePool(setting);
  describeAccessToken(setting);
  describePasskey(setting);
  describeAuthenticatorApp(setting);
}

interface Setting {
  device: Device;
  house: House;
}

const dialogOf = (page: Page, name?: string | RegExp) => page.getByRole('dialog', name ? { name } : {});
const buttonIn = (place: Page | Locator, name: string | RegExp) =>
  place.getByRole('button', { name, exact: true });

/** Confirms that a secret is stored. Afterwards the page does not contain it. */
async function store(page: Page, { use, tick }: Device, secret: string): Promise<void> {
  await page.getByText(secret).first().waitFor();
  await tick(page, page.getByLabel('I stored it in a safe place'));
  await use(page, buttonIn(page, 'Done'));
  await dialogOf(page).waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(secret);
}

async function openMenu(
  page: Page,
  { use }: Device,
  { menu, entry }: { menu: string; entry: string | RegExp },
): Promise<void> {
  await use(page, page.getByRole('button', { name: menu }));
  await use(page, page.getByRole('menuitem', { name: entry }));
}

function describeKey({ device, house }: Setting): void {
  const { use, type } = device;
  describe.skipIf(!ready)(`by ${device.name} alone, a key`, () => {
    test('is created and revealed, and its secret leaves the page', async () => {
      await house.visit('/keys', async (page) => {
        await use(page, buttonIn(page, 'Create key'));
        await type(page, page.getByLabel('Name', { exact: true }), 'Night batch');
        await use(page, buttonIn(dialogOf(page), 'Create key'));
        await use(page, buttonIn(dialogOf(page), 'Reveal'));
        await store(page, device, SECRET);
        await page.getByText('Night batch').first().waitFor();
      });
    });
  });
}

function describeKeyInUse({ device, house }: Setting): void {
  const { use, tick } = device;
  describe.skipIf(!ready)(`by ${device.name} alone, a key in use`, () => {
    test('is rotated: the new secret is shown once; the page shows that the old one works on', async () => {
      await house.visit('/keys', async (page) => {
        await openMenu(page, device, { menu: 'Actions for Staging', entry: 'Rotate…' });
        const dialog = dialogOf(page, 'Rotate Staging');
        await tick(page, dialog.getByRole('radio', { name: '1 h' }));
        await use(page, buttonIn(dialog, 'Rotate'));
        await use(page, buttonIn(dialogOf(page), 'Reveal'));
        await store(page, device, SECRET);
        const banner = page.getByText('Staging is rotating.').locator('..');
        await banner.getByText('It has not been used since the new one was revealed.').waitFor();
        const other = page.getByText('Codex in CI is rotating.').locator('..');
        await other.getByText(/It was last used \d+ min ago\./).waitFor();
      });
    });

    test('loses its old secret early: the page shows on how many nodes', async () => {
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
        await openMenu(page, device, { menu: 'Actions for Staging', entry: /^Disable/ });
        await page.getByText('Staging disabled, applied on 3 of 3 nodes').first().waitFor();
        await use(page, buttonIn(page, 'Undo'));
        await page.getByText('Staging enabled').first().waitFor();
      });
    });
  });
}

function describePool({ device, house }: Setting): void {
  const { use } = device;
  describe.skipIf(!ready)(`by ${device.name} alone, a pool`, () => {
    test('is renewed for the total on the button', async () => {
      await house.visit('/pools/pool_1', async (page) => {
        await use(page, buttonIn(page, 'Renew'));
        await use(page, buttonIn(dialogOf(page), 'Pay $99.00'));
        await page.getByText('Atlas renewed').waitFor();
      });
    });
  });
}

function describeAccessToken({ device, house }: Setting): void {
  const { use, tick, type } = device;
  describe.skipIf(!ready)(`by ${device.name} alone, an access token`, () => {
    test('is created and shown once, and leaves the page', async () => {
      await house.visit('/profile/tokens', async (page) => {
        await use(page, buttonIn(page, 'Create token'));
        const dialog = dialogOf(page, 'Create token');
        await type(page, dialog.getByLabel('Name'), 'Nightly report');
        await tick(page, dialog.getByLabel('Read usage'));
        await use(page, buttonIn(dialog, 'Create token'));
        await store(page, device, TOKEN_SECRET);
        await page.getByText('Nightly report').first().waitFor();
      });
    });

    test('is revoked after one confirmation dialog', async () => {
      await house.visit('/profile/tokens', async (page) => {
        await use(page, buttonIn(page, 'Revoke…'));
        await use(page, buttonIn(dialogOf(page), 'Revoke'));
        await page.getByText('Billing export revoked').first().waitFor();
        await page.getByText('Expired and revoked tokens are listed for 90 days.').waitFor();
      });
    });
  });
}

function describePasskey({ device, house }: Setting): void {
  const { use, type } = device;
  describe.skipIf(!ready)(`by ${device.name} alone, a passkey`, () => {
    test('is added once; a second one on the same device is refused with the reason', async () => {
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
}

function describeAuthenticatorApp({ device, house }: Setting): void {
  const { use, type } = device;
  describe.skipIf(!ready)(`by ${device.name} alone, an authenticator app`, () => {
    test('is set up, and its recovery codes are shown once', async () => {
      await house.visit('/profile/security', async (page) => {
        await use(page, buttonIn(page, 'Set up…'));
        await page.getByText(TOTP_SECRET).waitFor();
        await type(page, page.getByLabel('Code from the app'), TOTP_CODE);
        await use(page, buttonIn(dialogOf(page), 'Turn on'));
        const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem');
        await codes.first().waitFor();
        expect(await codes.count()).toBe(10);
        await store(page, device, (await codes.first().textContent()) ?? '');
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
}
