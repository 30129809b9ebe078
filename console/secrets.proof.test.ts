/** Flows about secrets in a real browser: proofs, second factors, tokens; by mouse and by keyboard alone. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PASSWORD, TOKEN_SECRET, TOTP_CODE, TOTP_SECRET } from './test/account-answers.ts';
import { SECRET } from './test/key-answers.ts';
import { ready, violations } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

const proofDialog = (page: Page) => page.getByRole('dialog', { name: 'Confirm it’s you' });

describe.skipIf(!ready)('re-authentication', () => {
  test('opens above a dialog, by keyboard alone; then the requested action is done', async () => {
    house.stage.fake.state.stale = true;
    await visit('/keys', async (page) => {
      await press(page, page.getByRole('button', { name: 'Reveal', exact: true }).first());
      await press(page, page.getByRole('dialog').getByRole('button', { name: 'Reveal', exact: true }));
      await proofDialog(page).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.type('wrong password');
      await page.keyboard.press('Enter');
      await proofDialog(page).getByText('Email or password is wrong.').waitFor();
      await proofDialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByLabel('The secret').waitFor();
      expect(await page.getByLabel('The secret').textContent()).toBe(SECRET);
      expect(await proofDialog(page).count()).toBe(0);
    });
  });

  test('can be declined: nothing is done, and the dialog below keeps its input', async () => {
    house.stage.fake.state.stale = true;
    await visit('/profile/tokens', async (page) => {
      await page.getByRole('button', { name: 'Create token' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create token' });
      await dialog.getByLabel('Name').fill('Nightly report');
      await dialog.getByLabel('Read usage').check();
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await proofDialog(page).getByLabel('Password', { exact: true }).fill('x');
      await page.keyboard.press('Escape');
      await proofDialog(page).waitFor({ state: 'detached' });
      await dialog.getByText('Nothing was changed. Confirm your password first.').waitFor();
      expect(await dialog.getByLabel('Name').inputValue()).toBe('Nightly report');
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await proofDialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD);
      await proofDialog(page).getByRole('button', { name: 'Continue' }).click();
      await page.getByText(TOKEN_SECRET).waitFor();
    });
  });
});

describe.skipIf(!ready)('re-authentication', () => {
  test('is required before a node gets a token, and accepts the code of the app', async () => {
    Object.assign(house.stage.fake.state, { stale: true, totp: true });
    await visit('/admin/nodes', async (page) => {
      await page.getByRole('button', { name: 'Create node' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create node' });
      await dialog.getByLabel('Name').fill('eu-3');
      await dialog.getByLabel('Reason').fill('More room');
      await page.keyboard.press('Enter');
      await proofDialog(page).getByLabel('Password', { exact: true }).fill(PASSWORD);
      await proofDialog(page).getByLabel('Code from your authenticator app').fill(TOTP_CODE);
      await page.keyboard.press('Enter');
      await page.getByText('node-token-shown-once').waitFor();
    });
  });
});

describe.skipIf(!ready)('an authenticator app', () => {
  test('is set up by keyboard alone; its codes are shown once and guarded', async () => {
    await visit('/profile/security', async (page) => {
      await press(page, page.getByRole('button', { name: 'Set up…' }));
      await page.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor();
      await page.getByText(TOTP_SECRET).waitFor();
      expect(await violations(page)).toEqual([]);
      await page.getByLabel('Code from the app').focus();
      await page.keyboard.type(TOTP_CODE);
      await page.keyboard.press('Enter');
      await page.getByRole('list', { name: 'Recovery codes' }).waitFor();
      expect(await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').count()).toBe(10);
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByText('Close without storing it?').waitFor();
      await press(page, page.getByRole('button', { name: 'Back', exact: true }));
      await page.getByLabel('I stored it in a safe place').focus();
      await page.keyboard.press('Space');
      await press(page, page.getByRole('button', { name: 'Done' }));
      await page.getByText('10 recovery codes are left.').waitFor();
      expect(await page.content()).not.toContain(TOTP_SECRET);
    });
  });

  test('is turned off with the password and a code', async () => {
    house.stage.fake.state.totp = true;
    await visit('/profile/security', async (page) => {
      await page.getByRole('button', { name: 'Turn off…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await dialog.getByLabel('Code from your authenticator app').fill(TOTP_CODE);
      await dialog.getByRole('button', { name: 'Turn off' }).click();
      await page.getByText('Off. Signing in only needs the password.').waitFor();
    });
  });
});

describe.skipIf(!ready)('an access token', () => {
  test('needs a scope, is shown once, and is gone from the page afterwards', async () => {
    await visit('/profile/tokens', async (page) => {
      await page.getByRole('button', { name: 'Create token' }).click();
      const dialog = page.getByRole('dialog', { name: 'Create token' });
      await dialog.getByLabel('Name').fill('Nightly report');
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await dialog.getByText('Choose at least one scope.').waitFor();
      await dialog.getByLabel('Read usage').check();
      expect(await dialog.getByLabel('Admin: users').count()).toBe(0);
      await dialog.getByRole('button', { name: 'Create token' }).click();
      await page.getByText(TOKEN_SECRET).waitFor();
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      await page.getByText('Close without storing it?').waitFor();
      await page.getByRole('button', { name: 'Back', exact: true }).click();
      await page.getByLabel('I stored it in a safe place').check();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByText('Nightly report').waitFor();
      expect(await page.content()).not.toContain(TOKEN_SECRET);
    });
  });

  test('is revoked after one confirmation dialog', async () => {
    await visit('/profile/tokens', async (page) => {
      await page.getByRole('button', { name: 'Revoke…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
      await page.getByText('Billing export revoked').first().waitFor();
      await expect.poll(() => page.getByText('Revoked', { exact: true }).count()).toBe(2);
    });
  });
});

describe.skipIf(!ready)('the account', () => {
  test('is closed only after its address was typed and the password given', async () => {
    await visit('/profile', async (page) => {
      await page.getByRole('button', { name: 'Close account…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(/^Type/).fill('somebody@else.dev');
      await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await dialog.getByRole('button', { name: 'Close permanently' }).click();
      await dialog.getByText('Type mara@lindgren.dev exactly.').waitFor();
      expect(house.stage.fake.state.signedIn).toBe(true);
      expect(await violations(page)).toEqual([]);
      await dialog.getByLabel(/^Type/).fill('mara@lindgren.dev');
      await dialog.getByRole('button', { name: 'Close permanently' }).click();
      await page.waitForURL(/\/sign-in/);
    });
  });

  test('keeps its name and time zone', async () => {
    await visit('/profile', async (page) => {
      await page.getByLabel('Name', { exact: true }).fill('Mara L.');
      await page.getByLabel('Time zone').selectOption('Europe/Berlin');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved').first().waitFor();
      const { displayName, timeZone } = house.stage.fake.state;
      expect({ displayName, timeZone }).toEqual({ displayName: 'Mara L.', timeZone: 'Europe/Berlin' });
    });
  });

  test('is signed out everywhere, this browser included', async () => {
    await visit('/profile/security', async (page) => {
      await page.getByRole('button', { name: 'Sign out everywhere' }).click();
      await page.waitForURL(/\/sign-in/);
      expect(house.stage.fake.state.signedIn).toBe(false);
    });
  });
});
