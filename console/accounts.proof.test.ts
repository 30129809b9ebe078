/** Sign-in in a real browser: mailed links, policy, providers. No secret stays in the address. */
import { describe, expect, test } from 'vitest';
import { LINK_TOKEN } from './test/account-answers.ts';
import { isPublic } from './public-paths.ts';
import { ADMIN_PAGES, OWN_PAGES, PUBLIC_PAGES, ready, violations } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

describe.skipIf(!ready)('a link', () => {
  test('leaves the address at once, sets a new password, and signs in', async () => {
    await visit(`/reset#${LINK_TOKEN}`, async (page) => {
      house.stage.fake.state.signedIn = false;
      expect(page.url()).not.toContain(LINK_TOKEN);
      await page.goBack().catch(() => null);
      await page.goForward().catch(() => null);
      expect(page.url()).not.toContain(LINK_TOKEN);
    });
    await visit(`/reset#${LINK_TOKEN}`, async (page) => {
      house.stage.fake.state.signedIn = false;
      await page.getByLabel('Password', { exact: true }).fill('tram orchid 41 window');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/keys$/);
    });
  });

  test('shows that it was used, when it is opened again', async () => {
    await visit('/reset#token-of-yesterday', async (page) => {
      await page.getByLabel('Password', { exact: true }).fill('tram orchid 41 window');
      await page.keyboard.press('Enter');
      await page.getByText('This link was already used, or has expired.').waitFor();
    });
  });

  test('verifies an address only after a press of the button', async () => {
    await visit(`/verify#${LINK_TOKEN}`, async (page) => {
      house.stage.fake.state.signedIn = false;
      expect(page.url()).not.toContain(LINK_TOKEN);
      await press(page, page.getByRole('button', { name: 'Confirm address' }));
      await page.waitForURL(/\/keys$/);
    });
  });

  test('gets the same answer for every address when a visitor asks for it', async () => {
    await visit('/sign-in', async (page) => {
      await page.getByRole('link', { name: 'Forgot your password?' }).click();
      // The previous page has a field with the same name.
      await page.getByLabel('Password', { exact: true }).waitFor({ state: 'detached' });
      await page.getByLabel('Email').fill('nobody@example.org');
      await page.keyboard.press('Enter');
      await page.getByText('If nobody@example.org has an account, a link was sent to it.').waitFor();
    });
  });
});

describe.skipIf(!ready)('a link that activates an account', () => {
  test('does not ask for an address, because the account has one', async () => {
    await visit(`/activate#${LINK_TOKEN}`, async (page) => {
      house.stage.fake.state.signedIn = false;
      await page.getByLabel('Password', { exact: true }).fill('tram orchid 41 window');
      expect(await page.getByLabel('Email').count()).toBe(0);
      await page.getByRole('checkbox').check();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/quickstart$/);
    });
  });
});

describe('a page', () => {
  test('leads to sign-in when the session ends, unless the page needs no session', () => {
    const pathOf = (where: string): string => where.split(/[?#]/)[0] ?? '';
    const pages = PUBLIC_PAGES.map(pathOf).filter((path) => path !== '/no-such-page');
    expect(pages.filter((path) => !isPublic(path))).toEqual([]);
    expect([...OWN_PAGES, ...ADMIN_PAGES].filter((where) => isPublic(pathOf(where)))).toEqual([]);
  });
});

describe.skipIf(!ready)('signing in', () => {
  test('offers a passkey and the provider, with the address to return to', async () => {
    await visit('/sign-in?next=%2Fwallet', async (page) => {
      await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
      const provider = page.getByRole('link', { name: 'Sign in with Example' });
      expect(await provider.getAttribute('href')).toBe('https://gateway.example/oidc/start?next=%2Fwallet');
    });
  });

  test('leads a signed-in user on to the console', async () => {
    await visit('/pricing', async (page) => {
      house.stage.fake.state.signedIn = true;
      await page.goto(`${house.stage.fake.url}/sign-in?next=%2Fwallet%3Fkind%3DUSAGE`);
      await page.waitForURL(/\/wallet\?kind=USAGE/);
      await page.getByRole('heading', { level: 1, name: 'Wallet' }).waitFor();
    });
  });

  test('never leads to another site', async () => {
    await visit('/sign-in?next=%2F%2Fevil.example', async (page) => {
      await page.getByLabel('Email').fill('mara@lindgren.dev');
      await page.getByLabel('Password', { exact: true }).fill('tram orchid 41 window');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/keys$/);
    });
  });

  test('shows the outcome of a sign-in at the provider', async () => {
    await visit('/sign-in?oidc=failed', async (page) => {
      await page.getByText('Sign-in at the provider failed.').waitFor();
    });
  });
});

describe.skipIf(!ready)('the privacy policy', () => {
  test('opens above the form, which keeps its input', async () => {
    await visit('/register', async (page) => {
      await page.getByLabel('Email').fill('mara@lindgren.dev');
      await page.getByRole('button', { name: 'privacy policy' }).click();
      await page.getByRole('dialog').getByText('What providers receive').waitFor();
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      expect(await page.getByLabel('Email').inputValue()).toBe('mara@lindgren.dev');
      expect(await page.getByRole('checkbox').isChecked()).toBe(false);
    });
  });

  test('must be accepted first after a new version, except to export or close the account', async () => {
    house.stage.fake.state.mustAccept = true;
    await visit('/wallet', async (page) => {
      await page.getByRole('heading', { name: 'Privacy policy 1.0 is in force' }).waitFor();
      expect(await page.getByText('Available now').count()).toBe(0);
      expect(await violations(page)).toEqual([]);
      await page.getByRole('link', { name: 'Export data or close account' }).click();
      await page.getByRole('button', { name: 'Download your data' }).waitFor();
      await page.goBack();
      await press(page, page.getByRole('button', { name: 'Accept version 1.0' }));
      await page.getByText('Available now').waitFor();
    });
  });
});
