/**
 * Passkeys as a person meets them: the built console in a real browser with a virtual authenticator, over the
 * whole house, from the passkey that is made to the one that proves who sits there.
 */
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Authenticator, giveAuthenticator } from '../console/test/authenticator.ts';
import { CHROMIUM_FLAGS, findChromium } from '../console/test/chromium.ts';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, ADMIN, startHouse } from './house.ts';
import type { House } from './house.ts';

const EMAIL = 'mara@example.com';
const NAME = 'Laptop';

const chrome = await findChromium();
/** A browser on a busy machine takes its time; a page that hangs takes longer. */
vi.setConfig({ testTimeout: 90_000 });

let database: TestDatabase;
let house: House;
let browser: Browser;
let page: Page;
let authenticator: Authenticator;

beforeAll(async () => {
  if (chrome === undefined) return;
  database = await createEmptyDatabase();
  house = await startHouse({ databaseUrl: database.url });
  await addCustomer(house, '20', EMAIL);
  browser = await chromium.launch({ executablePath: chrome, args: CHROMIUM_FLAGS });
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  page = await context.newPage();
  page.setDefaultTimeout(30_000);
  // The virtual finger would take the offer of the email field before anybody pressed the button.
  await page.addInitScript(() => {
    PublicKeyCredential.isConditionalMediationAvailable = () => Promise.resolve(false);
  });
  authenticator = await giveAuthenticator(page);
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await house?.stop();
  await database?.drop();
});

const address = (path: string): string => `http://localhost:${house.control.port}${path}`;
const button = (name: string) => page.getByRole('button', { name, exact: true });

async function signOut(): Promise<void> {
  await page.context().clearCookies();
  await page.goto(address('/sign-in?next=%2Fprofile%2Fsecurity'));
  await button('Sign in with a passkey').waitFor();
}

/** As if the last proof were too old. */
async function age(): Promise<void> {
  await house.database.query("update session set authenticated_at = now() - interval '1 hour'");
}

describe.skipIf(chrome === undefined)('a passkey', () => {
  test('is made after signing in, with a name, and stands in the list', async () => {
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

  test('signs in by keyboard alone', async () => {
    const before = authenticator.asserted();
    await signOut();
    await button('Sign in with a passkey').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/profile\/security/);
    await page.getByText(`Signed in as ${EMAIL}.`).waitFor();
    expect(authenticator.asserted()).toBeGreaterThan(before);
  });

  test('proves who sits there before a sensitive act, which then goes on', async () => {
    await age();
    const before = authenticator.asserted();
    await button('Set up…').click();
    const proof = page.getByRole('dialog', { name: 'Is it still you?' });
    await proof.getByRole('button', { name: 'Use a passkey' }).press('Enter');
    await proof.waitFor({ state: 'detached' });
    await page.getByRole('dialog', { name: 'Set up an authenticator app' }).getByLabel('Secret').waitFor();
    expect(authenticator.asserted()).toBe(before + 1);
  });
});
