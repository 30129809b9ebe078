/**
 * `npm run bench:console`: measures how long a visitor waits for the largest part of /pricing, in a real
 * browser with an empty cache, and how much JavaScript each page loads. Prints tables and writes
 * `.bench/console.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import {
  ADMIN_PAGES,
  openStage,
  openTab,
  OWN_PAGES,
  PUBLIC_PAGES,
  ready,
} from '../../console/test/browser.ts';
import { startChromium } from '../../console/test/chromium.ts';
import { loadedScripts, scriptBytes } from '../../console/test/scripts.ts';
import { startHouse } from '../house.ts';
import { withPostgres } from '../with-postgres.ts';
import { type Paint, paintOf } from './first-paint.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '.bench');
const LOADS = 15;
const VIEW = { width: 1280, theme: 'light' } as const;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

async function paints(databaseUrl: string): Promise<Paint[]> {
  const house = await startHouse({ databaseUrl, nodes: 0 });
  const browser = await startChromium();
  try {
    const found: Paint[] = [];
    const load = () => paintOf(browser, `${house.controlUrl}/pricing`, 'table tbody tr');
    // The first load is not measured: the browser and the service compile their code during it.
    await load();
    for (let count = 0; count < LOADS; count += 1) found.push(await load());
    return found;
  } finally {
    await browser.close();
    await house.stop();
  }
}

async function sizes(): Promise<{ page: string; bytes: number }[]> {
  const stage = await openStage();
  const found: { page: string; bytes: number }[] = [];
  for (const page of [...PUBLIC_PAGES, ...OWN_PAGES, ...ADMIN_PAGES]) {
    stage.fake.state.signedIn = !PUBLIC_PAGES.includes(page);
    stage.fake.state.admin = ADMIN_PAGES.includes(page);
    const tab = await openTab(stage, VIEW);
    await tab.go(page);
    found.push({ page, bytes: scriptBytes(await loadedScripts(tab.page), stage.folder) });
    await tab.context.close();
  }
  await stage.close();
  return found;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function rowOf(title: string, values: readonly number[], digits = 0): string {
  return `| ${title} | ${median(values).toFixed(digits)} | ${Math.max(...values).toFixed(digits)} |`;
}

async function main(): Promise<void> {
  if (!ready) throw new Error('There is no Chromium. Install one, or set CHROMIUM to its path.');
  const load = loadavg();
  const found = await withPostgres('bench', paints);
  say(
    `${cpus().length} cores, load average ${load.map((value) => value.toFixed(1)).join(', ')} at the start\n`,
  );
  say(`| /pricing, ${LOADS} loads with an empty cache | median | worst |\n|---|---|---|`);
  say(
    rowOf(
      'first paint of content, ms',
      found.map(({ firstMs }) => firstMs),
    ),
  );
  say(
    rowOf(
      'largest paint of content, ms',
      found.map(({ largestMs }) => largestMs),
    ),
  );
  say(
    rowOf(
      'longest task, ms',
      found.map(({ longestTaskMs }) => longestTaskMs),
    ),
  );
  say(
    rowOf(
      'shift of the layout',
      found.map(({ shift }) => shift),
      3,
    ),
  );
  say(
    rowOf(
      'transferred, kB',
      found.map(({ bytes }) => bytes / 1_000),
      1,
    ),
  );
  const scripts = await sizes();
  say('\n| page | kB of JavaScript, gzip |\n|---|---|');
  for (const { page, bytes } of scripts) say(`| ${page} | ${(bytes / 1_000).toFixed(1)} |`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'console.json'), JSON.stringify({ load, paints: found, scripts }, null, 2));
}

await main();
