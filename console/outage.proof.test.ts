/** The console while the control plane is dead, frozen, or replaced by another release under an open page. */
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openStage, openTab, ready, type Stage, type Tab, violations } from './test/browser.ts';
import { openWire, type Wire } from './test/wire.ts';

const OPEN_MS = 240_000;
const TEST_MS = 90_000;

let stage: Stage;
let wire: Wire;
let tab: Tab;

vi.setConfig({ testTimeout: TEST_MS });

beforeAll(async () => {
  if (!ready) return;
  stage = await openStage();
  wire = await openWire(stage.fake.url);
}, OPEN_MS);
afterEach(async () => {
  await wire.restore();
  await tab.context.close();
});
afterAll(async () => {
  if (!ready) return;
  await wire.kill();
  await stage.close();
});

async function openKeys(): Promise<Page> {
  const proxied = { ...stage, fake: { ...stage.fake, url: wire.url } };
  tab = await openTab(proxied, { width: 1280, theme: 'light' });
  await tab.go('/keys');
  // The part that shows an outage loads with the live updates.
  await tab.page.getByRole('banner').getByText('Live').waitFor();
  return tab.page;
}

const UNREACHABLE = 'The console cannot reach the gateway';
const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main' });
const goTo = (page: Page, name: string) => navigation(page).getByRole('link', { name }).click();
const pendingBar = (page: Page) => page.locator('[data-part=pending]');

/** Renames every script and style, as a build of changed sources does. */
function replaceRelease(folder: string): void {
  renameSync(path.join(folder, 'assets'), path.join(folder, 'assets-next'));
  const names = ['index.html', 'pages.json', ...readdirSync(path.join(folder, 'assets-next')).map(inAssets)];
  for (const name of names.filter((each) => /\.(html|json|js|css)$/.test(each))) {
    const file = path.join(folder, name);
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('assets/', 'assets-next/'));
  }
}

const inAssets = (name: string): string => path.join('assets-next', name);

describe.skipIf(!ready)('an open page', () => {
  test('keeps frame and data while the control plane is dead, and recovers by itself', async () => {
    const page = await openKeys();
    await wire.kill();
    await goTo(page, 'Usage');
    await page.getByRole('alert').getByText(UNREACHABLE).waitFor();
    await navigation(page).waitFor();
    expect(
      await page
        .getByRole('banner')
        .getByRole('link', { name: /^Available \$/ })
        .count(),
    ).toBe(1);
    expect(await violations(page)).toEqual([]);
    await goTo(page, 'Keys');
    await page.getByRole('status').getByText(UNREACHABLE).waitFor();
    await page.getByRole('table', { name: 'Keys' }).waitFor();
    expect(await violations(page)).toEqual([]);
    await goTo(page, 'Usage');
    await wire.restore();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await page.getByRole('table', { name: 'Requests' }).waitFor();
  });

  test('shows a pending bar and then a notice while the control plane is frozen', async () => {
    const page = await openKeys();
    await goTo(page, 'Wallet');
    await page.getByRole('heading', { level: 1, name: 'Wallet' }).waitFor();
    wire.freeze();
    await goTo(page, 'Keys');
    await pendingBar(page).waitFor();
    await page.getByText('Waiting for the gateway.').waitFor();
    await page.getByRole('table', { name: 'Keys' }).waitFor();
    await goTo(page, 'Usage');
    await page.getByRole('alert').getByText(UNREACHABLE).waitFor();
    await navigation(page).waitFor();
    await wire.restore();
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    await pendingBar(page).waitFor({ state: 'detached' });
  });

  // The last test: the files of the stage stay renamed.
  test('continues with the scripts of a newer release', async () => {
    const page = await openKeys();
    replaceRelease(stage.folder);
    await goTo(page, 'Dedicated pools');
    await page.getByRole('heading', { level: 1, name: 'Dedicated pools' }).waitFor();
    await page.getByText('Storefront open').waitFor();
  });
});

describe.skipIf(!ready)('the frame', () => {
  // The HTML of the first has it; the scripts paint that of the second.
  test.each(['/keys', '/wallet'])(
    'is painted before the control plane answers any query: %s',
    async (where) => {
      const proxied = { ...stage, fake: { ...stage.fake, url: wire.url } };
      tab = await openTab(proxied, { width: 1280, theme: 'light' });
      await tab.page.route('**/graphql', () => undefined);
      await tab.page.goto(wire.url + where);
      await navigation(tab.page).getByRole('link', { name: 'Usage' }).waitFor();
      await tab.page.getByRole('main').waitFor();
    },
  );
});
