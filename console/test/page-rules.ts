/** The rules that hold for every page of the console: accessible, narrow enough, and with few scripts. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { overflow, ready, violations } from './browser.ts';
import { loadedScripts, namedScripts, scriptBytes } from './scripts.ts';
import { houseOfTests } from './visit.ts';

/** Pages on which a first visit begins. All others are reached from one of these. */
const FIRST_PAGES = ['/sign-in', '/register', '/pricing'];
/** Limits of JavaScript per page, in bytes after gzip. */
const FIRST_PAGE_BYTES_MAX = 170_000;
/** Part of a later page's scripts is in the browser's cache by then. */
const LATER_PAGE_BYTES_MAX = 175_000;
/** The usage page has a library for its chart and one for its table. */
const USAGE_BYTES_MAX = 179_000;
/** A chat with replies also loads the Markdown renderer. */
const CHAT_BYTES_MAX = 274_000;
const WIDE = 1280;
const NARROW = 360;
const NARROWEST = { width: 320, height: 640 };

/**
 * Scripts that load after the page: the socket of live updates, and parts that depend on an answer of the
 * service (other ways to sign in, banners, Markdown and code of a chat, learned items, open tasks), and the
 * comparison of models, which the address asks for.
 */
const LATE_SCRIPTS =
  'live|other-ways|passkeys|pool-endings|policy-banner|spend-alerts|reply-text|chunk|code-block|' +
  'code-colours|typescript|compare|prompts|default';
const LOADED_LATER = new RegExp(`/(?:${LATE_SCRIPTS}|learned-notice|open-tasks)-[\\w-]+\\.js$`);
/** The page of an unknown address: its HTML cannot know what it needs. */
const UNKNOWN_PAGE = '/no-such-page';

/** A window of this width in pixels with this theme. */
interface Look {
  width: number;
  theme: 'light' | 'dark';
}

/** Both sizes and both themes, for the push tier. */
export const TWO_LOOKS: readonly Look[] = [
  { width: WIDE, theme: 'light' },
  { width: NARROW, theme: 'dark' },
];
/** All combinations, for the proof tier. */
export const ALL_LOOKS: readonly Look[] = [
  { width: WIDE, theme: 'light' },
  { width: WIDE, theme: 'dark' },
  { width: NARROW, theme: 'light' },
  { width: NARROW, theme: 'dark' },
];

/** Defines one test per page. */
export function describePages(pages: readonly string[], looks: readonly Look[]): void {
  const house = houseOfTests();
  describe.skipIf(!ready)('the page', () => {
    test.each(pages)(
      '%s is accessible in both themes and sizes, fits 320 px, and loads only scripts that its HTML names',
      async (where) => {
        const { stage } = house;
        await house.visit(where, async (page) => {
          const loaded = await loadedScripts(page);
          const bytes = scriptBytes(loaded, stage.folder);
          expect(bytes).toBeGreaterThan(0);
          expect(bytes).toBeLessThanOrEqual(bytesMax(where));
          if (where !== UNKNOWN_PAGE) expectNamed(loaded, await namedScripts(stage, where));
          await expectAccessible(page, looks);
        });
      },
    );
  });
}

function bytesMax(where: string): number {
  if (where.includes('chat=')) return CHAT_BYTES_MAX;
  if (where === '/usage') return USAGE_BYTES_MAX;
  return FIRST_PAGES.includes(where) ? FIRST_PAGE_BYTES_MAX : LATER_PAGE_BYTES_MAX;
}

/** Checks all rules in the light theme. In the dark theme checks only those that a theme can break. */
async function expectAccessible(page: Page, looks: readonly Look[]): Promise<void> {
  for (const { width, theme } of looks) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: theme });
    expect(await violations(page, theme === 'dark'), `${width} px, ${theme}`).toEqual([]);
  }
  await page.setViewportSize(NARROWEST);
  expect(await overflow(page)).toBe(0);
}

/** Expects that the HTML of the page names each script that it loads, and no other script. */
function expectNamed(loaded: readonly string[], named: readonly string[]): void {
  expect(loaded.filter((file) => !named.includes(file) && !LOADED_LATER.test(file))).toEqual([]);
  expect(named.filter((file) => !loaded.includes(file))).toEqual([]);
}
