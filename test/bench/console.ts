/**
 * `npm run bench:console`: how long a visitor waits for the largest part of /pricing, in a real browser with
 * an empty cache, and how much JavaScript each page loads. Table, and `.bench/console.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ADMIN_PAGES,
  openStage,
  openTab,
  OWN_PAGES,
  PUBLIC_PAGES,
  ready,
  scriptBytes,
  type Stage,
} from '../../console/test/browser.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '.bench');
const LOADS = 9;
const VIEW = { width: 1280, theme: 'light' } as const;

/** The largest contentful paint of a page, in ms since its navigation began. */
function largestPaint(): Promise<number> {
  return new Promise((resolve) => {
    new PerformanceObserver((list) => {
      resolve(list.getEntries().at(-1)?.startTime ?? Number.NaN);
    }).observe({ type: 'largest-contentful-paint', buffered: true });
  });
}

async function paints(stage: Stage): Promise<number[]> {
  const found: number[] = [];
  stage.fake.state.signedIn = false;
  for (let load = 0; load < LOADS; load += 1) {
    const tab = await openTab(stage, VIEW);
    await tab.go('/pricing');
    found.push(await tab.page.evaluate(largestPaint));
    await tab.context.close();
  }
  return found.sort((a, b) => a - b);
}

async function sizes(stage: Stage): Promise<{ page: string; bytes: number }[]> {
  const found: { page: string; bytes: number }[] = [];
  for (const page of [...PUBLIC_PAGES, ...OWN_PAGES, ...ADMIN_PAGES]) {
    stage.fake.state.signedIn = !PUBLIC_PAGES.includes(page);
    stage.fake.state.admin = ADMIN_PAGES.includes(page);
    const tab = await openTab(stage, VIEW);
    await tab.go(page);
    found.push({ page, bytes: await scriptBytes(tab.page, stage.folder) });
    await tab.context.close();
  }
  return found;
}

async function main(): Promise<void> {
  if (!ready) throw new Error('There is no Chromium: install one, or name it with CHROMIUM.');
  const stage = await openStage();
  const paintMs = await paints(stage);
  const median = paintMs[Math.floor(LOADS / 2)] ?? Number.NaN;
  const slowest = paintMs.at(-1) ?? Number.NaN;
  const first = `/pricing, largest contentful paint over ${LOADS} loads with an empty cache: median `;
  process.stdout.write(`${first}${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms\n\n`);
  const line = ({ page, bytes }: { page: string; bytes: number }): string =>
    `| ${page} | ${(bytes / 1_000).toFixed(1)} |`;
  const scripts = await sizes(stage);
  await stage.close();
  process.stdout.write(['| page | kB of JavaScript, gzip |', '|---|---|', ...scripts.map(line)].join('\n'));
  process.stdout.write('\n');
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'console.json'), JSON.stringify({ paintMs, scripts }, null, 2));
}

await main();
