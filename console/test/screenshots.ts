/**
 * `npm run screenshots`: pictures of every page, dialog, drawer and menu into `.screenshots/`, in four
 * widths, two themes and forced colours, and both languages. Arguments narrow them: with `-- 390-dark /keys`,
 * the views and the places whose names contain one of the arguments of their kind.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADMIN_PAGES, openStage, openTab, PUBLIC_PAGES, ready, type Stage, type Tab } from './browser.ts';
import { type Language, type Place, PLACES, showPlace } from './places.ts';
import { makeKeys } from './sample.ts';

/** Looks that need a load of their own: narrow windows are touched, and have other dialogs. */
const SIZES = [
  { widths: [1440, 1024], touch: false },
  { widths: [390, 320], touch: true },
] as const;
const LANGUAGES: readonly Language[] = ['en', 'zh-CN'];
const THEMES = ['light', 'dark', 'forced'] as const;
type Theme = (typeof THEMES)[number];

const folder = fileURLToPath(new URL('../../.screenshots/', import.meta.url));
const HEIGHT = 800;
/** Time after which live values and delayed messages are on the page, in ms. */
const LATE_MS = 1_700;
/** Maximum height of a picture in pixels; below it, long lists only repeat. */
const HEIGHT_MOST = 1_600;

const given = process.argv.slice(2);
const views = given.filter((part) => !part.startsWith('/'));
const places = given.filter((part) => part.startsWith('/'));
const isWanted = (name: string, parts: readonly string[]): boolean =>
  parts.length === 0 || parts.some((part) => name.includes(part));

interface Look {
  language: Language;
  width: number;
  theme: Theme;
}

const nameOf = ({ width, theme, language }: Look): string => `${width}-${theme}-${language}`;

/** Takes the pictures. */
async function main(): Promise<void> {
  if (!ready) throw new Error('There is no Chromium (set CHROMIUM) or no emitted schema.');
  const stage = await openStage();
  for (const language of LANGUAGES)
    for (const { widths, touch } of SIZES) {
      const looks = widths
        .flatMap((width) => THEMES.map((theme) => ({ language, width, theme })))
        .filter((look) => isWanted(nameOf(look), views));
      const [first] = looks;
      if (!first) continue;
      const tab = await openTab(stage, { width: first.width, theme: 'light', language, touch });
      for (const place of PLACES.filter(({ name }) => isWanted(name, places)))
        await take({ stage, tab, place }, looks).catch((error: unknown) => {
          process.stderr.write(`${language}, ${place.name}: ${String(error)}\n`);
          process.exitCode = 1;
        });
      await tab.context.close();
    }
  await stage.close();
}

interface Setting {
  stage: Stage;
  tab: Tab;
  place: Place;
}

/** Loads a place once, and takes its picture in each of these looks. */
async function take({ stage, tab, place }: Setting, looks: readonly Look[]): Promise<void> {
  const { page } = tab;
  const [first] = looks;
  if (!first) return;
  const [address = ''] = place.where.split(/[?]/);
  const { state } = stage.fake;
  Object.assign(state, { keys: makeKeys(), signedIn: !PUBLIC_PAGES.includes(address) });
  state.admin = ADMIN_PAGES.includes(address);
  await page.goto('about:blank');
  await page.setViewportSize({ width: first.width, height: HEIGHT });
  await tab.go(place.where);
  await showPlace(page, place, first.language);
  await page.waitForTimeout(LATE_MS);
  for (const look of looks) await picture(tab, place, look);
}

async function picture({ page, settled }: Tab, place: Place, look: Look): Promise<void> {
  const { width, theme } = look;
  const view = path.join(folder, nameOf(look));
  mkdirSync(view, { recursive: true });
  await page.setViewportSize({ width, height: HEIGHT });
  const forcedColors = theme === 'forced' ? 'active' : 'none';
  await page.emulateMedia({ colorScheme: theme === 'dark' ? 'dark' : 'light', forcedColors });
  // The window grows to the page, so that bars that stick to its edges stand where they belong.
  const whole = await page.evaluate(() => document.documentElement.scrollHeight);
  const height = place.opens ? HEIGHT : Math.min(whole, HEIGHT_MOST);
  await page.setViewportSize({ width, height });
  // Parts that load when they come into view.
  await settled();
  await page.screenshot({ path: path.join(view, `${place.name.replaceAll(/[^\w-]+/g, '-').slice(1)}.png`) });
}

await main();
