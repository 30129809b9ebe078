/**
 * `npm run bench:console`: measures the console in a real browser with an empty cache, over a real control
 * plane with generated data. Four parts, all by default: `fast` loads /pricing many times; `slow` loads the
 * first routes on slow 4G with a CPU that is four times slower; `interactions` measures the time to the next
 * frame; `sizes` measures the JavaScript of each page. Prints tables and writes `.bench/console.json`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
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
import { seedDatabase } from '../seed/seed.ts';
import { withPostgres } from '../with-postgres.ts';
import { type Load, type Paint, paintOf } from './first-paint.ts';
import { startHttp2Front } from './http2-front.ts';
import { type Interaction, KINDS, measure } from './interactions.ts';
import { signInAsHeaviest } from './query-times.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '.bench');
const FAST_LOADS = 15;
const SLOW_LOADS = Number(process.env['BENCH_LOADS'] ?? 3);
/** One key for both control planes of the database. */
const SECRET_KEY = 'the secret key of a database for benchmarks';
const SIZE = { users: 20, keys: 400, usage: 20_000 };
const VIEW = { width: 1280, theme: 'light' } as const;
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const PARTS = ['fast', 'slow', 'interactions', 'sizes'] as const;
type PartName = (typeof PARTS)[number];
const given = process.argv.slice(2);
const wants = (part: PartName): boolean => given.length === 0 || given.includes(part);

/** The first routes, and the page with the most data. */
const ROUTES = [
  { path: '/sign-in', who: 'visitor', shown: 'form' },
  { path: '/register', who: 'visitor', shown: 'form' },
  { path: '/pricing', who: 'visitor', shown: 'table tbody tr' },
  { path: '/keys', who: 'user', shown: 'table tbody tr' },
  { path: '/quickstart', who: 'user', shown: 'ol pre' },
  { path: '/usage', who: 'user', shown: 'table tbody tr' },
  { path: '/admin/overview', who: 'admin', shown: 'main svg rect' },
] as const;

/** The sessions of who loads the pages. */
type Cookies = Record<(typeof ROUTES)[number]['who'], string>;

interface Setting {
  /** The address for browsers. */
  url: string;
  browser: Browser;
  cookies: Cookies;
}

/** Runs with a control plane whose database has users, keys and requests. */
async function withData<Result>(databaseUrl: string, work: (setting: Setting) => Promise<Result>) {
  const front = await startHttp2Front();
  const controlEnv = {
    CONSOLE_URL: front.url,
    TRUST_PROXY: '127.0.0.1',
    QUERY_BUDGET: '1000000000',
    SECRET_KEY,
  };
  const empty = await startHouse({ databaseUrl, nodes: 0, controlEnv });
  await empty.stop();
  await seedDatabase(databaseUrl, SIZE, () => undefined);
  const house = await startHouse({ databaseUrl, nodes: 0, controlEnv });
  front.toPort(house.control.port);
  const browser = await startChromium();
  try {
    const user = await signInAsHeaviest(house);
    const cookies = { visitor: '', user: user.cookie(), admin: house.admin.cookie() };
    return await work({ url: front.url, browser, cookies });
  } finally {
    await browser.close();
    await house.stop();
    await front.stop();
  }
}

/** Loads a page this many times. The first load is not counted: browser and service compile their code. */
async function loads(browser: Browser, load: Load, times: number): Promise<Paint[]> {
  const found: Paint[] = [];
  await paintOf(browser, { ...load, slow: false });
  for (let count = 0; count < times; count += 1) found.push(await paintOf(browser, load));
  return found;
}

async function fastPaints({ url, browser }: Setting): Promise<Paint[]> {
  const paints = await loads(browser, { url: `${url}/pricing`, shown: 'table tbody tr' }, FAST_LOADS);
  say(`\n| /pricing, ${FAST_LOADS} loads with an empty cache | median | worst |\n|---|---|---|`);
  for (const [title, value, digits] of FIGURES) say(rowOf(title, paints.map(value), digits));
  return paints;
}

const FIGURES: readonly [title: string, value: (paint: Paint) => number, digits?: number][] = [
  ['first paint of content, ms', ({ firstMs }) => firstMs],
  ['largest paint of content, ms', ({ largestMs }) => largestMs],
  ['longest task, ms', ({ longestTaskMs }) => longestTaskMs],
  ['shift of the layout', ({ shift }) => shift, 3],
  ['transferred, kB', ({ bytes }) => bytes / 1_000, 1],
];

async function slowPaints({ url, browser, cookies }: Setting): Promise<Record<string, Paint[]>> {
  say(
    `\n| slow 4G, CPU / 4, median of ${SLOW_LOADS} | FCP ms | LCP ms | CLS | longest task ms | ` +
      'kB before LCP | scripts ms | answers ms | largest |',
  );
  say('|---|---|---|---|---|---|---|---|---|');
  const found: Record<string, Paint[]> = {};
  for (const { path, who, shown } of ROUTES) {
    const load = { url: `${url}${path}`, shown, cookie: cookies[who], slow: true };
    const paints = await loads(browser, load, SLOW_LOADS);
    const of = (value: (paint: Paint) => number, digits = 0) => median(paints.map(value)).toFixed(digits);
    const [one] = paints;
    const figures = [
      of(({ firstMs }) => firstMs),
      of(({ largestMs }) => largestMs),
      of(({ shift }) => shift, 3),
      of(({ longestTaskMs }) => longestTaskMs),
      of(({ bytesBefore }) => bytesBefore / 1_000, 0),
      of(({ scriptsMs }) => scriptsMs),
      one?.answersMs.map((at) => at.toFixed(0)).join(' '),
      one?.largest,
    ];
    say(`| ${path} | ${figures.join(' | ')} |`);
    found[path] = paints;
  }
  return found;
}

async function interactions({ url, browser, cookies }: Setting): Promise<Interaction[]> {
  say('\n| interaction, CPU / 4 | slowest, ms | interactions |\n|---|---|---|');
  const found: Interaction[] = [];
  for (const kind of KINDS) {
    const cookie = kind.path.startsWith('/admin') ? cookies.admin : cookies.user;
    const interaction = await measure(browser, kind, { url, cookie });
    say(`| ${interaction.name} | ${interaction.slowestMs.toFixed(0)} | ${interaction.count} |`);
    found.push(interaction);
  }
  return found;
}

async function sizes(): Promise<{ page: string; bytes: number }[]> {
  const stage = await openStage();
  const found: { page: string; bytes: number }[] = [];
  say('\n| page | kB of JavaScript, gzip |\n|---|---|');
  for (const page of [...PUBLIC_PAGES, ...OWN_PAGES, ...ADMIN_PAGES]) {
    stage.fake.state.signedIn = !PUBLIC_PAGES.includes(page);
    stage.fake.state.admin = ADMIN_PAGES.includes(page);
    const tab = await openTab(stage, VIEW);
    await tab.go(page);
    const bytes = scriptBytes(await loadedScripts(tab.page), stage.folder);
    say(`| ${page} | ${(bytes / 1_000).toFixed(1)} |`);
    found.push({ page, bytes });
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
  say(
    `${cpus().length} cores, load average ${load.map((value) => value.toFixed(1)).join(', ')} at the start`,
  );
  const measured = PARTS.slice(0, 3).some(wants)
    ? await withPostgres('bench', (url) =>
        withData(url, async (setting) => ({
          paints: wants('fast') ? await fastPaints(setting) : [],
          slow: wants('slow') ? await slowPaints(setting) : {},
          interactions: wants('interactions') ? await interactions(setting) : [],
        })),
      )
    : {};
  const scripts = wants('sizes') ? await sizes() : [];
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'console.json'), JSON.stringify({ load, ...measured, scripts }, null, 2));
}

await main();
