/** Pages whose first view is in the HTML: what visitors see, type and send before the scripts arrive. */
/// <reference lib="dom" />
import { describe, expect, test } from 'vitest';
import { ready, type View } from '../test/browser.ts';
import { expectFirstView, inLateTab, type LateTab } from '../test/late-scripts.ts';
import { houseOfTests } from '../test/visit.ts';
import { PRERENDERED } from './build.ts';

const house = houseOfTests();
const ENGLISH: View = { width: 1280, theme: 'light' };
const CHINESE: View = { width: 390, theme: 'dark', language: 'zh-CN' };

/** Runs with a visitor's tab whose scripts wait for `release`. */
async function withLateScripts(view: View, steps: (tab: LateTab) => Promise<void>): Promise<void> {
  house.stage.fake.state.signedIn = false;
  await inLateTab(house.stage, view, steps);
}

describe.skipIf(!ready)('the HTML of a page', () => {
  test.each(PRERENDERED)('at %s shows its heading without JavaScript', async (where) => {
    house.stage.fake.state.signedIn = false;
    const context = await house.stage.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(house.stage.fake.url + where);
    await page.locator('h1').waitFor();
    expect(await page.locator('script:not([src]), style, [style]').count()).toBe(0);
    await context.close();
  });

  test.each(PRERENDERED.flatMap((where) => [ENGLISH, CHINESE].map((view) => ({ where, view }))))(
    'at $where is continued by the scripts, on a screen of $view.width px in $view.theme colours',
    async ({ where, view }) => {
      await withLateScripts(view, async ({ page, open, release }) => {
        await open(where);
        const expectContinued = await expectFirstView(page, view);
        await release();
        await expectContinued();
      });
    },
  );
});

describe.skipIf(!ready)('the first view of a page', () => {
  test('is not in the HTML for users who are signed in', async () => {
    const answer = await fetch(`${house.stage.fake.url}/pricing`);
    expect(await answer.text()).toContain('<div id="root"></div>');
  });

  test('is hidden until the scripts arrive if another language was chosen on this device', async () => {
    await withLateScripts(ENGLISH, async ({ page, open, release }) => {
      await page.addInitScript(() => localStorage.setItem('language', 'zh-CN'));
      await open('/sign-in');
      expect(await page.locator('h1').isVisible()).toBe(false);
      await release();
      await page.getByRole('heading', { name: '登录' }).waitFor();
    });
  });

  test('is hidden until the scripts arrive if the address has a ticket', async () => {
    await withLateScripts(ENGLISH, async ({ page, open, release }) => {
      await open('/sign-in#oidc=ticket');
      expect(await page.locator('h1').isVisible()).toBe(false);
      await release();
      await page.getByRole('link', { name: 'Sign in another way' }).waitFor();
    });
  });
});

describe.skipIf(!ready)(
  'the first view of a page, after the skip link was used and the page loaded again,',
  () => {
    test('is shown before the scripts arrive, and continued by them', async () => {
      await withLateScripts(ENGLISH, async ({ page, open, release }) => {
        await open('/pricing#content');
        const expectContinued = await expectFirstView(page, ENGLISH);
        await release();
        await expectContinued();
      });
    });
  },
);

describe.skipIf(!ready)('the choice of a theme in the footer', () => {
  test.each(['light', 'dark'])(
    'is the stored one before and after the scripts arrive: %s',
    async (stored) => {
      await withLateScripts(ENGLISH, async ({ page, open, release }) => {
        await page.addInitScript((choice) => localStorage.setItem('theme', choice), stored);
        await open('/pricing');
        const choice = page.getByRole('combobox', { name: 'Theme' });
        await expect.poll(() => choice.inputValue()).toBe(stored);
        await release();
        await expect.poll(() => choice.inputValue()).toBe(stored);
        await choice.selectOption('system');
        await expect.poll(() => page.evaluate(() => localStorage.getItem('theme'))).toBe('system');
      });
    },
  );
});

describe.skipIf(!ready)('what a visitor enters before the scripts arrive', () => {
  test('stays, with the focus', async () => {
    await withLateScripts(ENGLISH, async ({ page, open, release }) => {
      await open('/sign-in');
      await page.keyboard.type('ada@example.com');
      await page.getByLabel('Stay signed in').uncheck();
      await page.getByLabel('Password', { exact: true }).fill('correct horse');
      await release();
      expect(await page.getByLabel('Email').inputValue()).toBe('ada@example.com');
      expect(await page.getByLabel('Stay signed in').isChecked()).toBe(false);
      const password = page.getByLabel('Password', { exact: true });
      expect(await password.inputValue()).toBe('correct horse');
      expect(await password.evaluate((element) => element === document.activeElement)).toBe(true);
    });
  });

  test('counts for the strength of a new password', async () => {
    await withLateScripts(ENGLISH, async ({ page, open, release }) => {
      await open('/register');
      await page.getByLabel('Email').fill('ada@example.com');
      await page.getByLabel('Password', { exact: true }).fill('a rather long password');
      await release();
      expect(await page.getByLabel('Email').inputValue()).toBe('ada@example.com');
      await page.getByText('Strong').waitFor();
    });
  });
});

describe.skipIf(!ready)('a form that is sent before the scripts arrive', () => {
  test('never gets into the address, and is sent once the scripts are there', async () => {
    await withLateScripts(ENGLISH, async ({ page, open, release }) => {
      const listens = page.waitForRequest('**/graphql');
      await open('/sign-in');
      await page.getByLabel('Email').fill('ada@example.com');
      await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
      await listens;
      await page.getByLabel('Password', { exact: true }).press('Enter');
      expect(new URL(page.url()).search).toBe('');
      await release();
      await page.waitForURL('**/keys');
    });
  });

  test('is sent once the version of the policy is known, for a registration', async () => {
    await withLateScripts(ENGLISH, async ({ page, open, release }) => {
      const listens = page.waitForRequest('**/graphql');
      await open('/register');
      await page.getByLabel('Email').fill('ada@example.com');
      await page.getByLabel('Password', { exact: true }).fill('a rather long password');
      await page.getByRole('checkbox').check();
      await listens;
      await page.getByLabel('Password', { exact: true }).press('Enter');
      const sent = page.waitForRequest((request) => /mutation Register/.test(request.postData() ?? ''));
      await release();
      await sent;
    });
  });

  test('is not sent by the page if the visitor goes on typing', async () => {
    await withLateScripts(ENGLISH, async ({ page, open, release }) => {
      const sent: string[] = [];
      page.on('request', (request) => sent.push(...(/mutation SignIn/.exec(request.postData() ?? '') ?? [])));
      const listens = page.waitForRequest('**/graphql');
      await open('/sign-in');
      await page.getByLabel('Email').fill('ada@example.com');
      await page.getByLabel('Password', { exact: true }).fill('correct horse');
      await listens;
      await page.getByLabel('Password', { exact: true }).press('Enter');
      await page.keyboard.type(' battery');
      await release();
      expect(sent).toEqual([]);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/keys');
      expect(sent).toHaveLength(1);
    });
  });
});
