/** The built console in one real browser: what tests and screenshots share. */
/// <reference lib="dom" />
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AxeResults, RunOnly, RunOptions } from 'axe-core';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import { findStaleProducts } from '../../tools/build.mjs';
import { chromiumPath, startChromium } from './chromium.ts';
import { type Fake, startFake } from './fake-control-plane.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const schemaPath = path.join(root, 'control-plane', 'schema.graphql');

/** Whether there is a browser, and a schema for the fake control plane. */
export const ready = chromiumPath !== undefined && existsSync(schemaPath);
if (!ready)
  process.stderr.write(
    'The browser tests are skipped: no Chromium (install one, or name it with CHROMIUM), or no schema.\n',
  );

export const PUBLIC_PAGES = [
  '/sign-in',
  '/register',
  '/claim#token',
  '/activate#token',
  '/reset#token',
  '/verify#token',
  '/forgot-password',
  '/pricing',
  '/pricing/coder-max',
  '/compare',
  '/compare?models=["coder-max","flagship-max","swift","coder"]',
  '/status',
  '/privacy-policy',
  '/help',
  '/docs/conformance',
  '/no-such-page',
];
export const OWN_PAGES = [
  '/playground',
  '/playground?chat=cnv_1',
  '/playground?compare=coder,swift',
  '/profile/personal-intelligence',
  '/keys',
  '/keys/key_2',
  '/quickstart',
  '/wallet',
  '/pools',
  '/pools/pool_1',
  '/usage',
  '/profile',
  '/profile/security',
  '/profile/tokens',
  '/profile/webhooks',
  '/profile/notifications',
  '/profile/privacy',
  '/profile/appearance',
];
export const ADMIN_PAGES = [
  '/admin/overview',
  '/admin/users',
  '/admin/users/usr_admin_1',
  '/admin/models',
  '/admin/groups',
  '/admin/upstreams',
  '/admin/upstreams/prv_north-eu',
  '/admin/nodes',
  '/admin/health',
  '/admin/incidents',
  '/admin/audit',
  '/admin/policies',
  '/admin/personal-intelligence',
  '/admin/ledger',
  '/admin/payments',
  '/admin/payments/top-ups/top_a2',
  '/admin/payments/deposits',
  '/admin/payments/corrections',
  '/admin/payments/cards',
  '/admin/payments/blockchains',
  '/admin/storefront',
  '/admin/pools',
  '/admin/pools/pool_2',
];

export interface View {
  width: number;
  theme: 'light' | 'dark';
  /** The browser's first language; English when left out. */
  language?: string;
  /** A screen that is touched; its controls are larger. */
  touch?: boolean;
}

export interface Stage {
  fake: Fake;
  browser: Browser;
  folder: string;
  close(): Promise<void>;
}

interface StageOptions {
  /** By default a new one. */
  browser?: Browser;
  /** The folder in which a copy of the console is made; by default the temporary folder. */
  parent?: string;
}

/** The built console behind the fake control plane, and a browser. */
export async function openStage({ browser: given, parent = tmpdir() }: StageOptions = {}): Promise<Stage> {
  const folder = mkdtempSync(path.join(parent, 'console-'));
  layOutConsole(folder);
  const fake = await startFake(folder, readFileSync(schemaPath, 'utf8'));
  const browser = given ?? (await startChromium());
  const close = async () => {
    await browser.close();
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { fake, browser, folder, close };
}

/** Copies what `npm test` built at its start. If sources have changed since, builds them into `folder`. */
function layOutConsole(folder: string): void {
  const built = 'dist/console';
  if (!findStaleProducts().some(({ result }) => result === built))
    return cpSync(path.join(root, built), folder, { recursive: true });
  // A separate process: the test's NODE_ENV would build React for development.
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const build = [vite, 'build', '--logLevel', 'error', '--emptyOutDir', '--outDir', folder];
  const env = { ...process.env, NODE_ENV: 'production' };
  execFileSync(process.execPath, build, { cwd: path.join(root, 'console'), env });
}

/** A tab that collects warnings, errors and requests to other sites than the service. */
export interface Tab {
  page: Page;
  context: BrowserContext;
  said: string[];
  /** Goes to an address and waits until it has its heading and all answers. */
  go(address: string): Promise<void>;
  /** Waits until all requests are answered. */
  settled(): Promise<void>;
}

const QUIET_MS = 40;
const QUIET_TIMES = 2;

/** Runs in the page: resolves as soon as it has nothing to do. */
function idle(): Promise<unknown> {
  return new Promise((resolve) => {
    requestIdleCallback(resolve, { timeout: 1_000 });
  });
}

/** Runs in the page: whether React has begun to render the console, or to continue its HTML. */
function hasStarted(): boolean {
  const place = document.getElementById('root') ?? {};
  return Object.keys(place).some((name) => name.startsWith('__reactContainer'));
}

/** A page that hangs takes longer. A busy machine takes half of it for the first page of a browser. */
const STEP_MS = 60_000;

/** Opens a tab. */
export async function openTab({ browser, fake }: Stage, view: View): Promise<Tab> {
  const { width, theme, language, touch = false } = view;
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: theme,
    reducedMotion: 'reduce',
    hasTouch: touch,
    isMobile: touch,
    ...(language !== undefined && { locale: language }),
  });
  context.setDefaultTimeout(STEP_MS);
  const page = await context.newPage();
  const said: string[] = [];
  const open = new Set<Request>();
  page.on('console', (message) => {
    if (message.type() !== 'log') said.push(message.text());
  });
  page.on('pageerror', (error) => said.push(error.message));
  page.on('request', (request) => {
    open.add(request);
    if (!/^(blob|data):/.test(request.url()) && !request.url().startsWith(fake.url))
      said.push(`asked ${request.url()}`);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  const settled = async () => {
    for (let quiet = 0; quiet < QUIET_TIMES;) {
      await new Promise((resolve) => {
        setTimeout(resolve, QUIET_MS);
      });
      // A page that is busy may be about to ask for more; one that goes elsewhere meanwhile has no answer.
      await page.evaluate(idle).catch(() => undefined);
      quiet = open.size === 0 ? quiet + 1 : 0;
    }
  };
  const go = async (address: string) => {
    // Chromium does not report the end of every request of the page before.
    open.clear();
    await page.goto(fake.url + address);
    // Not by role: a drawer that opens with the page hides the heading from assistive technology.
    await page.locator('h1').first().waitFor({ state: 'attached' });
    // The HTML of some pages has its heading before any script.
    await page.waitForFunction(hasStarted);
    await settled();
  };
  return { page, context, said, go, settled };
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const EVERY_RULE: RunOnly = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};
/** Rules that a theme can break. All others depend on the document alone. */
const COLOUR_RULES: RunOnly = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

declare global {
  interface Window {
    axe: { run: (options: RunOptions) => Promise<AxeResults> };
  }
}

/** Violations that axe finds on the page. `colour` runs only the rules that a theme can break. */
export async function violations(page: Page, colour = false): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  await drawn(page);
  const options: RunOptions = { runOnly: colour ? COLOUR_RULES : EVERY_RULE, resultTypes: ['violations'] };
  const found = await page.evaluate((chosen) => window.axe.run(chosen), options);
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/**
 * Waits for the next frames, and until the page has nothing to do. A window that was just made narrower is
 * laid out again with these frames; the rows of tables follow in short tasks.
 */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
      }),
  );
  await page.evaluate(idle);
}

/** A chart or a table that is still too wide after this time does not fit. */
const FIT_MS = 20_000;

/** By how many pixels the page is wider than its window. Charts take a new width a moment after the page. */
export async function overflow(page: Page): Promise<number> {
  const fits = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth;
  await page.waitForFunction(fits, undefined, { timeout: FIT_MS }).catch(() => undefined);
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
