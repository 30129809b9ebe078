/** Pictures of every page, light and dark, wide and on a phone, into .screenshots/: `npm run screenshots`. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADMIN_PAGES, openStage, openTab, OWN_PAGES, PUBLIC_PAGES, ready } from './browser.ts';

const VIEWS = [
  { name: 'wide-light', width: 1280, theme: 'light' },
  { name: 'wide-dark', width: 1280, theme: 'dark' },
  { name: 'phone-light', width: 360, theme: 'light', touch: true },
  { name: 'phone-dark', width: 360, theme: 'dark', touch: true },
  { name: 'wide-light-zh-CN', width: 1280, theme: 'light', language: 'zh-CN' },
] as const;

const folder = fileURLToPath(new URL('../../.screenshots/', import.meta.url));
const HEIGHT = 800;
/** Time after which live values and delayed messages are on the page, in ms. */
const LATE_MS = 1_700;
/** Maximum height of a picture in pixels; below it, long lists only repeat. */
const HEIGHT_MOST = 1_600;
const wanted = process.argv.slice(2);

/** Takes the pictures; arguments narrow them to addresses or views that contain one of them. */
async function main(): Promise<void> {
  if (!ready) throw new Error('There is no chromium (set CHROMIUM) or no emitted schema.');
  mkdirSync(folder, { recursive: true });
  const stage = await openStage();
  for (const view of VIEWS) {
    const tab = await openTab(stage, view);
    for (const address of [...PUBLIC_PAGES, ...OWN_PAGES, ...ADMIN_PAGES]) {
      const file = `${view.name}${address.replaceAll(/[^a-z-]+/g, '-')}.png`;
      if (wanted.length > 0 && !wanted.some((part) => `${view.name} ${address}`.includes(part))) continue;
      stage.fake.state.signedIn = !PUBLIC_PAGES.includes(address);
      stage.fake.state.admin = ADMIN_PAGES.includes(address);
      await tab.page.goto('about:blank');
      await tab.page.setViewportSize({ width: view.width, height: HEIGHT });
      await tab.go(address);
      await tab.page.waitForTimeout(LATE_MS);
      // The window grows to the page, so that bars that stick to its edges stand where they belong.
      const whole = await tab.page.evaluate(() => document.documentElement.scrollHeight);
      await tab.page.setViewportSize({ width: view.width, height: Math.min(whole, HEIGHT_MOST) });
      await tab.page.screenshot({ path: path.join(folder, file) });
    }
    await tab.context.close();
  }
  await stage.close();
}

await main();
