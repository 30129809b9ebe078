/** For the browser tests: opens pages of the built console and fails a test when a page reports a problem. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, inject, vi } from 'vitest';
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
import { sharedChromium } from './chromium.ts';
import { makeAlerts } from './alert-answers.ts';
import { makeAdminPayments } from './admin-payment-answers.ts';
import { makeItems } from './item-answers.ts';
import { makePayments } from './payment-answers.ts';
import { makePools } from './pool-answers.ts';
import { makeKeys, resetModels } from './sample.ts';

const WIDE: View = { width: 1280, theme: 'light' };
const HEIGHT = 800;

/** Opens a page and runs the steps. Fails if the page logged anything or sent a request to another site. */
export type Visit = (where: string, steps: (page: Page) => Promise<void>) => Promise<void>;

export interface House {
  stage: Stage;
  tab: Tab;
  visit: Visit;
}

/** A browser on a busy machine is slow; a page that hangs takes longer still. */
const TEST_MS = 90_000;
/** The console may have to be built first. */
const OPEN_MS = 240_000;

/** The built console and the browser, shared by all test files of this process. */
let shared: Promise<Stage> | undefined;

/**
 * The shared stage, and a tab of its own, for the tests of one file. The sample data is reset
 * before each test. Without a browser nothing is opened, and every member throws.
 */
export function houseOfTests(prepare?: (house: House) => Promise<void>): House {
  vi.setConfig({ testTimeout: TEST_MS });
  let opened: House | undefined;
  beforeAll(async () => {
    if (!ready) return;
    shared ??= sharedChromium().then((browser) => openStage({ browser, parent: inject('runFolder') }));
    opened = await openHouse(await shared);
    await prepare?.(opened);
  }, OPEN_MS);
  beforeEach(() => {
    if (opened) reset(opened.stage);
  });
  afterAll(() => opened?.tab.context.close());
  const house = (): House => {
    if (!opened) throw new Error('The console is open only while the tests of a file run.');
    return opened;
  };
  return {
    get stage() {
      return house().stage;
    },
    get tab() {
      return house().tab;
    },
    visit: (where, steps) => house().visit(where, steps),
  };
}

async function openHouse(stage: Stage): Promise<House> {
  const tab = await openTab(stage, WIDE);
  const { state } = stage.fake;
  const visit: Visit = async (where, steps) => {
    const [path = ''] = where.split(/[?]/);
    state.signedIn = !PUBLIC_PAGES.includes(path);
    state.admin = ADMIN_PAGES.includes(path);
    tab.said.length = 0;
    await tab.page.setViewportSize({ width: WIDE.width, height: HEIGHT });
    await tab.page.emulateMedia({ colorScheme: WIDE.theme });
    // A change of the fragment alone would not reload the page and would keep open dialogs.
    await tab.page.goto('about:blank');
    await tab.go(where);
    await steps(tab.page);
    expect(tab.said).toEqual([]);
  };
  return { stage, tab, visit };
}

/** Restores the sample account, keys, pools and models. */
function reset({ fake }: Stage): void {
  resetModels();
  Object.assign(fake.state, {
    signedIn: true,
    admin: false,
    keys: makeKeys(),
    broken: false,
    money: {},
    rewrite: undefined,
    ...makeAccount(),
    ...makeAlerts(),
    ...makePools(),
    ...makePayments(),
    ...makeItems(),
    ...makeAdminPayments(),
  });
}

/**
 * Presses a control by keyboard: focuses it, and presses Enter once it keeps the focus, which a page that is
 * still loading may move. Fails if no key leads to the control.
 */
export async function press(page: Page, control: Locator): Promise<void> {
  const focused = async () => {
    await control.focus();
    return control.evaluate(keepsFocus);
  };
  await expect.poll(focused).toBe(true);
  expect(await control.evaluate(isReached)).toBe(true);
  await page.keyboard.press('Enter');
}

/** Runs in the page: whether the element has the focus two frames later. */
function keepsFocus(element: Element): Promise<boolean> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(element === document.activeElement)));
  });
}

/** Runs in the page: whether the dialog of the element, if it is in one, has the focus. */
function isBesideFocus(element: Element): boolean {
  const dialog = element.closest('[role=dialog]');
  return dialog === null || dialog.contains(document.activeElement);
}

/** Runs in the page: whether Tab leads to the element, or arrow keys within its group. */
function isReached(element: Element): boolean {
  const group = '[role=menu], [role=tablist], [role=radiogroup], [role=listbox], [role=group]';
  return element instanceof HTMLElement && (element.tabIndex >= 0 || element.closest(group) !== null);
}

/** More controls than any page has between two steps of a flow. */
const TABS_MAX = 150;

/**
 * Presses Tab until the control has the focus, as people do who have no pointer. A dialog takes the focus a
 * frame after it is visible, and gives it back a frame after it has gone: Tab waits for the first, and the
 * control has to keep the focus.
 */
export async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor();
  await expect.poll(() => control.evaluate(isBesideFocus)).toBe(true);
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    if ((await hasFocus(control)) && (await control.evaluate(keepsFocus))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${control.toString()}.`);
}

/** Leads to the control with Tab, and presses Enter or another key. */
export async function tabAndPress(page: Page, control: Locator, key = 'Enter'): Promise<void> {
  await tabTo(page, control);
  await page.keyboard.press(key);
}

/** Whether the control has the focus. */
export const hasFocus = (control: Locator): Promise<boolean> =>
  control.evaluate((element) => element === document.activeElement);

/** Types into a field that gets the focus when it opens, a frame after it is visible. */
export async function typeInto(field: Locator, text: string): Promise<void> {
  await expect.poll(() => hasFocus(field)).toBe(true);
  await field.page().keyboard.type(text);
}

/** Types into the search field of an open list, and presses Enter once the option is selected. */
export async function typeAndChoose(search: Locator, text: string, name: RegExp): Promise<void> {
  const page = search.page();
  await typeInto(search, text);
  await page.getByRole('option', { name, selected: true }).waitFor();
  await page.keyboard.press('Enter');
}
