/**
 * The rules for the look of every page, dialog, drawer and menu: at four widths and in both languages nothing
 * is cut off, lies over something else or scrolls sideways, and everything is accessible. The theme changes
 * no layout. Without `everyLook`, the accessibility of dialogs, drawers and menus is checked in one look, and
 * that of pages by `page-rules.ts`.
 */
import type { CDPSession } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { ready, violations } from './browser.ts';
import { layoutFaults } from './layout.ts';
import { type Language, type Place, showPlace } from './places.ts';
import { makeKeys } from './sample.ts';
import { type House, houseOfTests } from './visit.ts';

/** Widths in px; the narrow windows are touched. */
const WIDTHS = [1440, 1024, 390, 320] as const;
const TOUCHED_BELOW = 640;
const HEIGHT = 800;
/** Sixteen runs of axe, on a machine that does other work. */
const TEST_MS = 240_000;

/** The look in which the accessibility of dialogs, drawers and menus is checked. */
const SAMPLE = '390 dark';

interface Layouts {
  language: Language;
  places: readonly Place[];
  /** Whether to check the accessibility at every width and in both themes. */
  everyLook: boolean;
}

/** Defines one test per place, in one language. */
export function describeLayout({ language, places, everyLook }: Layouts): void {
  let session: CDPSession;
  const house = houseOfTests(async ({ tab }) => {
    session = await tab.context.newCDPSession(tab.page);
    await tab.context.addInitScript((name) => {
      // The empty page between two visits has no storage.
      if (location.protocol === 'http:') localStorage.setItem('language', name);
    }, language);
  });
  describe.skipIf(!ready)(`in the language ${language}`, () => {
    test.each(places)(
      '$name fits all widths, covers nothing and is accessible',
      { timeout: TEST_MS },
      async (place) => {
        await house.visit(place.where, async () => {
          expect(await faultsIn({ house, session, language, everyLook }, place)).toEqual([]);
        });
      },
    );
  });
}

interface Setting extends Pick<Layouts, 'language' | 'everyLook'> {
  house: House;
  session: CDPSession;
}

/** The faults of a place at all widths, each with its width. */
async function faultsIn(setting: Setting, place: Place): Promise<string[]> {
  const { house, session, language } = setting;
  const { page, go, settled } = house.tab;
  const found: string[] = [];
  for (const width of WIDTHS) {
    const enabled = width < TOUCHED_BELOW;
    await session.send('Emulation.setTouchEmulationEnabled', { enabled });
    await page.setViewportSize({ width, height: HEIGHT });
    // A dialog or menu belongs to one width: it is opened again for each.
    house.stage.fake.state.keys = makeKeys();
    if (place.opens) await go(place.where);
    await showPlace(page, place, language);
    await settled();
    const faults = [...(await layoutFaults(page)), ...(await violationsAt(width, place, setting))];
    found.push(...faults.map((fault) => `${width} px: ${fault}`));
  }
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: false });
  return found;
}

/** Violations at this width, in the themes that are checked at it. */
async function violationsAt(width: number, place: Place, { house, everyLook }: Setting): Promise<string[]> {
  const { page } = house.tab;
  const found: string[] = [];
  for (const theme of ['light', 'dark'] as const) {
    if (!everyLook && !(place.opens && `${width} ${theme}` === SAMPLE)) continue;
    await page.emulateMedia({ colorScheme: theme });
    const isColour = everyLook && theme === 'dark';
    found.push(...(await violations(page, isColour)).map((fault) => `${theme}, ${fault}`));
  }
  return found;
}
