/**
 * Tests passkeys in the built console, in a real browser with a virtual authenticator, over both planes:
 * adding one, signing in, and re-authenticating.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Authenticator, giveAuthenticator } from '../console/test/authenticator.ts';
import { chromiumPath, sharedChromium } from '../console/test/chromium.ts';
import { addCustomer, ADMIN } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';

const EMAIL = 'passkey@example.com';
const NAME = 'Laptop';

/** Long enough for a browser on a busy machine. */
vi.setConfig({ testTimeout: 90_000 });

let house: House;
let customer: Customer;
let page: Page;
let authenticator: Authenticator;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  house = await openSharedHouse();
  customer = await addCustomer(house, '20', EMAIL);
  const context = await (await sharedChromium()).newContext({ reducedMotion: 'reduce' });
  page = await context.newPage();
  page.setDefaultTimeout(30_000);
  // The virtual authenticator would accept the autofill of the e-mail field before the button is pressed.
  await page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false);
  });
  authenticator = await giveAuthenticator(page);
}, 120_000);

afterAll(async () => {
  await page?.context().close();
});

const address = (path: string): string => `http://localhost:${house.control.port}${path}`;
const button = (name: string) => page.getByRole('button', { name, exact: true });

async function signOut(): Promise<void> {
  await page.context().clearCookies();
  await page.goto(address('/sign-in?next=%2Fprofile%2Fsecurity'));
  await button('Sign in with a passkey').waitFor();
}

/** Makes the last sign-in too old for sensitive actions. */
async function expireAuthentication(): Promise<void> {
  await house.database.query(
    "update session set authenticated_at = now() - interval '1 hour' where user_id = $1",
    [customer.userId],
  );
}

describe.skipIf(chromiumPath === undefined)('a passkey', () => {
  test('can be added with a name after signing in, and is listed', async () => {
    await page.goto(address('/sign-in?next=%2Fprofile%2Fsecurity'));
    await page.getByLabel('Email').fill(EMAIL);
    await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/profile\/security/);
    await button('Add a passkey…').click();
    const dialog = page.getByRole('dialog', { name: 'Add a passkey' });
    await dialog.getByLabel('Name').fill(NAME);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('main').getByText(NAME).first().waitFor();
  });

  test('signs in by mouse', async () => {
    await signOut();
    await button('Sign in with a passkey').click();
    await page.waitForURL(/\/profile\/security/);
    await page.getByText(`Signed in as ${EMAIL}.`).waitFor();
    expect(authenticator.asserted()).toBeGreaterThan(0);
  });

  test('signs in by keyboard only', async () => {
    const before = authenticator.asserted();
    await signOut();
    await button('Sign in with a passkey').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/profile\/security/);
    await page.getByText(`Signed in as ${EMAIL}.`).waitFor();
    expect(authenticator.asserted()).toBeGreaterThan(before);
  });

  test('re-authenticates the user before a sensitive action, which then continues', async () => {
    await expireAuthentication();
    const before = authenticator.asserted();
    await button('Set up…').click();
    const proof = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await proof.getByRole('button', { name: 'Use a passkey' }).press('Enter');
    await proof.waitFor({ state: 'detached' });
    await page.getByRole('dialog', { name: 'Set up an authenticator app' }).getByLabel('Secret').waitFor();
    expect(authenticator.asserted()).toBe(before + 1);
  });
});
