/** One tab for the tests of a file: opens pages as somebody, and fails when the page says anything. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, vi } from 'vitest';
import { makeAccount } from './account-answers.ts';
import {
  ADMIN_PAGES,
  openStage,
  openTab,
  PUBLIC_PAGES,
  ready,
  type Stage,
  type Tab,
  type View,
} from './browser.ts';
import { makePools } from './pool-answers.ts';
import { makeKeys, resetModels } from './sample.ts';

const WIDE: View = { width: 1280, theme: 'light' };
const HEIGHT = 800;

/** Opens a page, gathers what its console says, and runs the steps; anything said is a failure. */
export type Visit = (where: string, steps: (page: Page) => Promise<void>) => Promise<void>;

export interface House {
  stage: Stage;
  tab: Tab;
  visit: Visit;
  /** The account and its keys as they are at first. */
  reset(): void;
}

/** A browser on a busy machine takes its time; a page that hangs takes longer. */
const TEST_MS = 90_000;
/** The console may have to be built first. */
const OPEN_MS = 240_000;
vi.setConfig({ testTimeout: TEST_MS });

/**
 * The house of a test file: opened before its tests, as at first before each of them, closed after them.
 * Where there is no browser it is never opened, and must not be asked for anything.
 */
export function houseOfTests(prepare?: (house: House) => Promise<void>): House {
  let opened: House | undefined;
  beforeAll(async () => {
    if (!ready) return;
    opened = await openHouse();
    await prepare?.(opened);
  }, OPEN_MS);
  beforeEach(() => opened?.reset());
  afterAll(() => opened?.stage.close());
  const there = (): House => {
    if (!opened) throw new Error('The house is open while the tests of its file run.');
    return opened;
  };
  return {
    get stage() {
      return there().stage;
    },
    get tab() {
      return there().tab;
    },
    visit: (where, steps) => there().visit(where, steps),
    reset: () => there().reset(),
  };
}

/** The built console over the fake control plane, with one tab. */
async function openHouse(): Promise<House> {
  const stage = await openStage();
  const tab = await openTab(stage, WIDE);
  const { state } = stage.fake;
  const visit: Visit = async (where, steps) => {
    const [path = ''] = where.split(/[?]/);
    state.signedIn = !PUBLIC_PAGES.includes(path);
    state.admin = ADMIN_PAGES.includes(path);
    tab.said.length = 0;
    await tab.page.setViewportSize({ width: WIDE.width, height: HEIGHT });
    await tab.page.emulateMedia({ colorScheme: WIDE.theme });
    // From elsewhere, so that a fragment or an open dialog never carries over.
    await tab.page.goto('about:blank');
    await tab.go(where);
    await steps(tab.page);
    expect(tab.said).toEqual([]);
  };
  const reset = () => {
    resetModels();
    Object.assign(state, {
      signedIn: true,
      keys: makeKeys(),
      broken: false,
      money: {},
      ...makeAccount(),
      ...makePools(),
    });
  };
  return { stage, tab, visit, reset };
}

/** Presses a control as the keyboard does: it must take the focus, and Enter must do. */
export async function press(page: Page, control: Locator): Promise<void> {
  await control.focus();
  await page.keyboard.press('Enter');
}
