/**
 * The built console in a real browser: accessible in both themes and sizes, quiet, within its bounds, and
 * usable by keyboard.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { AxeBuilder } from '@axe-core/playwright';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SECRET } from './test/answers.ts';
import { type Fake, startFake } from './test/fake-control-plane.ts';
import { makeKeys } from './test/sample.ts';

const CANDIDATES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const chrome = [process.env['CHROMIUM'] ?? '', ...CANDIDATES].find((name) => name !== '' && existsSync(name));
const schemaPath = fileURLToPath(new URL('../control-plane/schema.graphql', import.meta.url));
const ready = chrome !== undefined && existsSync(schemaPath);
if (!ready)
  process.stderr.write('console.test.ts is skipped: no chromium (set CHROMIUM) or no emitted schema.\n');

const FIRST_ROUTE_BYTES_MAX = 170_000;
const PUBLIC_PAGES = [
  '/sign-in',
  '/register',
  '/claim#token',
  '/pricing',
  '/privacy-policy',
  '/no-such-page',
];
const OWN_PAGES = ['/keys', '/wallet', '/usage'];
const SIZES = [1280, 360];
const THEMES = ['light', 'dark'] as const;

let fake: Fake;
let browser: Browser;
let folder: string;

interface View {
  width: number;
  theme: (typeof THEMES)[number];
}

/** Opens a page, gathers what its console says, and runs the steps; anything said is a failure. */
async function visit(
  where: string,
  { width, theme }: View,
  steps: (page: Page) => Promise<void>,
): Promise<void> {
  fake.state.signedIn = !PUBLIC_PAGES.includes(where);
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  try {
    const page = await context.newPage();
    const said: string[] = [];
    page.on('console', (message) => {
      if (message.type() !== 'log') said.push(message.text());
    });
    page.on('pageerror', (error) => {
      said.push(error.message);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(fake.url)) said.push(`asked ${request.url()}`);
    });
    await page.goto(fake.url + where);
    await page.getByRole('heading', { level: 1 }).waitFor({ state: 'attached' });
    await page.waitForLoadState('networkidle');
    await steps(page);
    expect(said).toEqual([]);
  } finally {
    await context.close();
  }
}

const WIDE: View = { width: 1280, theme: 'light' };

beforeAll(async () => {
  if (!ready) return;
  folder = mkdtempSync(path.join(tmpdir(), 'console-'));
  // A process of its own: the test's NODE_ENV would build the slow, talkative React.
  const vite = fileURLToPath(new URL('../node_modules/vite/bin/vite.js', import.meta.url));
  const here = fileURLToPath(new URL('.', import.meta.url));
  const build = [vite, 'build', '--logLevel', 'error', '--emptyOutDir', '--outDir', folder];
  execFileSync(process.execPath, build, { cwd: here, env: { ...process.env, NODE_ENV: 'production' } });
  fake = await startFake(folder, readFileSync(schemaPath, 'utf8'));
  browser = await chromium.launch({ executablePath: chrome, args: ['--no-sandbox'] });
}, 120_000);

beforeEach(() => {
  if (ready) Object.assign(fake.state, { signedIn: true, keys: makeKeys(), broken: false });
});

afterAll(async () => {
  if (!ready) return;
  await browser.close();
  await fake.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(!ready)('every page', () => {
  test.each([...PUBLIC_PAGES, ...OWN_PAGES])(
    '%s is accessible in both themes and sizes, and fits 320 px',
    async (where) => {
      await visit(where, WIDE, async (page) => {
        for (const width of SIZES) {
          await page.setViewportSize({ width, height: 800 });
          for (const theme of THEMES) {
            await page.emulateMedia({ colorScheme: theme });
            expect(await violations(page), `${width} px, ${theme}`).toEqual([]);
          }
        }
        await page.setViewportSize({ width: 320, height: 640 });
        expect(await overflow(page)).toBe(0);
      });
    },
    60_000,
  );
});

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'])
    .analyze();
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

describe.skipIf(!ready)('the console', () => {
  test('a key is created, revealed and put away by keyboard alone; then its secret is gone', async () => {
    await visit('/keys', WIDE, async (page) => {
      await press(page, page.getByRole('button', { name: 'Create key' }));
      await page.getByLabel('Name', { exact: true }).waitFor();
      await page.keyboard.type('Night batch');
      await page.keyboard.press('Enter');
      await press(page, page.getByRole('dialog').getByRole('button', { name: 'Reveal', exact: true }));
      await page.getByLabel('The secret').waitFor();
      expect(await page.getByLabel('The secret').textContent()).toBe(SECRET);
      expect(await violations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByText('Close without storing the key?').waitFor();
      await press(page, page.getByRole('button', { name: 'Back to the key' }));
      await page.getByLabel('The secret').waitFor();
      const box = page.getByLabel('I stored it in a safe place');
      await box.focus();
      await page.keyboard.press('Space');
      await press(page, page.getByRole('button', { name: 'Done' }));
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(SECRET.slice(7, -4));
      await page.getByText('Night batch').waitFor();
    });
  });

  test('disabling a key tells on how many nodes it is applied, and can be undone', async () => {
    await visit('/keys', WIDE, async (page) => {
      await page.getByRole('button', { name: 'Actions for Staging' }).click();
      await page.getByRole('menuitem', { name: /^Disable/ }).click();
      await page.getByText('Staging disabled, applied on 3 of 3 nodes').first().waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('Staging enabled').first().waitFor();
    });
  });

  test('the first visit shows three steps', async () => {
    fake.state.keys = [];
    await visit('/keys', WIDE, async (page) => {
      await page.getByText('No keys yet').waitFor();
      expect(await page.getByRole('main').getByRole('listitem').count()).toBe(3);
      expect(await violations(page)).toEqual([]);
    });
  });

  test('new requests wait until they are asked for', async () => {
    await visit('/usage', WIDE, async (page) => {
      const rows = page.getByRole('table').getByRole('row');
      const before = await rows.count();
      await page.getByText('Live', { exact: true }).waitFor();
      await expect
        .poll(async () => {
          fake.addUsage();
          return page.getByRole('button', { name: /new request/ }).count();
        })
        .toBe(1);
      expect(await rows.count()).toBe(before);
      await page.getByRole('button', { name: /new request/ }).click();
      await expect.poll(() => rows.count()).toBeGreaterThan(before);
    });
  });

  test('older requests have an address of their own', async () => {
    await visit('/usage', WIDE, async (page) => {
      await page.getByRole('button', { name: 'Older' }).click();
      await page.waitForURL(/after=/);
      await page.getByRole('button', { name: 'Back to the newest' }).waitFor();
      await page.goBack();
      await page.getByRole('button', { name: 'Back to the newest' }).waitFor({ state: 'detached' });
    });
  });

  test('a wrong password is told without saying which part was wrong', async () => {
    await visit('/sign-in', WIDE, async (page) => {
      await page.getByLabel('Email').fill('mara@lindgren.dev');
      await page.getByLabel('Password', { exact: true }).fill('wrong');
      await page.keyboard.press('Enter');
      await page.getByText('Email or password is wrong.').waitFor();
    });
  });

  test('who is not signed in comes back to the page that was asked for', async () => {
    await visit('/sign-in?next=%2Fwallet', WIDE, async (page) => {
      fake.state.signedIn = false;
      await page.goto(`${fake.url}/wallet?kind=USAGE`);
      await page.getByLabel('Email').fill('mara@lindgren.dev');
      await page.getByLabel('Password', { exact: true }).fill('tram orchid 41 window');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/wallet\?kind=USAGE/);
    });
  });

  test('an account is not made before the policy is accepted', async () => {
    await visit('/register', WIDE, async (page) => {
      await page.getByLabel('Email').fill('mara@lindgren.dev');
      await page.getByLabel('Password', { exact: true }).fill('tram orchid 41 window');
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.getByText('Accept the policy to create an account.').waitFor();
      await page.getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Create account' }).click();
      await page.waitForURL(/\/keys/);
    });
  });

  test('the first page stays within 170 kB of JavaScript', async () => {
    await visit('/sign-in', WIDE, async (page) => {
      const names = await page.evaluate(() =>
        performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
      );
      const scripts = [...new Set(names)].filter((name) => name.endsWith('.js'));
      const bytes = scripts.reduce(
        (sum, name) => sum + gzipSync(readFileSync(path.join(folder, name))).length,
        0,
      );
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThanOrEqual(FIRST_ROUTE_BYTES_MAX);
    });
  });
});

/** Presses a control as the keyboard does: it must take the focus, and Enter must do. */
async function press(page: Page, control: ReturnType<Page['getByRole']>): Promise<void> {
  await control.focus();
  await page.keyboard.press('Enter');
}
