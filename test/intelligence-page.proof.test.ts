/**
 * Personal Intelligence in the built console, in a real browser over both planes: switched on, learned, used,
 * corrected, deleted, and switched off; by mouse on a wide screen, and by keyboard on a phone in the dark.
 */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { overflow, violations } from '../console/test/browser.ts';
import { chromiumPath, sharedChromium } from '../console/test/chromium.ts';
import { addCustomer, addUpstream, ADMIN } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';
import { extract } from './memory/extractor.ts';
import type { ExtractorInput } from './memory/extractor.ts';
import { questionOf, startHeldUpstream } from './playground/upstream.ts';
import type { ChatBody, HeldUpstream } from './playground/upstream.ts';

const ITEMS = '/profile/personal-intelligence';
const PREFERENCE = 'I prefer short answers in British English.';
const TASK = 'I am working on a tax report.';
const CORRECTED = 'Long answers in French';
const HEIGHT = 800;
const HEIGHT_TALL = 2_400;
const COFFEE = 'I prefer dark roast coffee.';

/** Long enough for a browser on a busy machine. */
vi.setConfig({ testTimeout: 90_000 });

let house: House;
let upstream: HeldUpstream;

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  upstream = await startHeldUpstream();
  upstream.reply = (body) => (isReading(body) ? extract(readingOf(body)) : undefined);
  house = await openSharedHouse();
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['budget'] });
  await chooseReader('budget');
}, 120_000);

afterAll(async () => {
  if (chromiumPath === undefined) return;
  await chooseReader('');
  await upstream.close();
});

const systemOf = ({ messages }: ChatBody): string =>
  messages
    .flatMap(({ role, content }) =>
      role === 'system' ? [questionOf({ model: '', messages: [{ role, content }] })] : [],
    )
    .join('\n');
const isReading = (body: ChatBody): boolean => systemOf(body).includes('"operations"');
const readingOf = (body: ChatBody): ExtractorInput => JSON.parse(questionOf(body)) as ExtractorInput;
/** The notes about the user that the model received with the last question. */
const notes = (): string =>
  systemOf(upstream.seen.findLast((body) => !isReading(body)) ?? { model: '', messages: [] });

function chooseReader(modelName: string): Promise<unknown> {
  return house.admin.query(
    `mutation ($input: AdminPersonalIntelligenceInput!) {
      adminPersonalIntelligenceSet(input: $input) { userErrors { code } } }`,
    { input: { modelName, reason: 'test' } },
  );
}

/** How somebody uses the page. */
interface Manner {
  name: string;
  width: number;
  theme: 'light' | 'dark';
  touch: boolean;
  /** Presses a button or a link, or turns a switch. */
  press: (control: Locator) => Promise<void>;
}

const MANNERS: Manner[] = [
  {
    ...{ name: 'by mouse on a wide screen', width: 1280, theme: 'light', touch: false },
    press: (control) => control.click(),
  },
  {
    ...{ name: 'by keyboard on a phone in the dark', width: 360, theme: 'dark', touch: true },
    press: async (control) => {
      await control.focus();
      const isBox = await control.evaluate((field) => field instanceof HTMLInputElement);
      await control.press(isBox ? 'Space' : 'Enter');
    },
  },
];

async function signedIn(browser: Browser, email: string, { width, theme, touch }: Manner): Promise<Page> {
  const view = { viewport: { width, height: HEIGHT }, colorScheme: theme, hasTouch: touch, isMobile: touch };
  const context = await browser.newContext({ ...view, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(`http://localhost:${house.control.port}/sign-in?next=${encodeURIComponent(ITEMS)}`);
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(ADMIN.password);
  await page.keyboard.press('Enter');
  await page.getByRole('switch', { name: 'Preference profiles' }).waitFor();
  return page;
}

/** The visitor of the running test. Each manner has a customer and a page of its own. */
let manner: Manner;
let customer: Customer;
let page: Page;
const problems: string[] = [];

const press = (control: Locator): Promise<void> => manner.press(control);
const button = (name: string | RegExp): Locator => page.getByRole('button', { name }).first();
const notice = (): Locator => page.getByRole('region', { name: 'Learned from your chats' });
const dialog = (): Locator => page.getByRole('dialog').last();
const open = (path: string): Promise<unknown> => page.goto(`http://localhost:${house.control.port}${path}`);
const kinds = (): Locator => page.getByRole('switch');
const turn = (name: string): Promise<void> => press(kinds().and(page.getByLabel(name)));
/** Bars that stick to the edges hide a part of what is scrolled, so axe looks at a tall window. */
const flawless = async (): Promise<void> => {
  const { width } = manner;
  expect([await overflow(page), problems]).toEqual([0, []]);
  await page.setViewportSize({ width, height: HEIGHT_TALL });
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width, height: HEIGHT });
};

async function ask(text: string): Promise<void> {
  const composer = page.getByRole('textbox', { name: /^Write a/ });
  const count = await page.getByRole('article').count();
  if (text !== '') await composer.fill(text);
  await composer.press('Enter');
  await expect.poll(() => page.getByRole('article').count()).toBe(count + 2);
  await page
    .getByRole('article')
    .last()
    .getByText(/charged$/)
    .waitFor();
}

/**
 * Makes the job of the open chat due instead of waiting for five quiet minutes, until it is done: one that
 * began before the reply was stored becomes due once more.
 */
async function read(): Promise<void> {
  const makeDue = 'update personal_job set run_after = now() where conversation_id = $1';
  const chat = new URL(page.url()).searchParams.get('chat');
  const jobs = async () => (await house.database.query(makeDue, [chat])).rowCount;
  await expect.poll(jobs).toBe(1);
  await expect.poll(jobs).toBe(0);
}

async function turnOn(): Promise<void> {
  await page.getByText('Chats are not stored because all four switches are off.').waitFor();
  await turn('Preference profiles');
  await page.getByText('1 of 4 switches is on').waitFor();
  await turn('What was I working on');
  await page.getByText('2 of 4 switches are on').waitFor();
  await flawless();
}

async function seeLearned(): Promise<void> {
  await open('/playground?model=budget');
  await page.getByText('Stored.', { exact: true }).waitFor();
  await ask(`${PREFERENCE} ${TASK}`);
  await read();
  await notice().getByText(`Learned: ${PREFERENCE}`).waitFor();
  await notice().getByText(`Learned: ${TASK}`).waitFor();
  await flawless();
  await page.reload();
  await notice().getByText(`Learned: ${TASK}`).waitFor();
  await press(notice().getByRole('button', { name: 'Hide this notice' }));
  await notice().waitFor({ state: 'detached' });
}

async function beginWithTask(): Promise<void> {
  await open('/playground?model=budget');
  await page.getByRole('heading', { name: 'Pick up where you left off' }).waitFor();
  await flawless();
  await press(button(/^Continue with/));
  await ask('');
  expect(notes()).toContain(`- ${PREFERENCE}\n`);
  await press(button('Used in this reply (2)'));
  await dialog().getByText(PREFERENCE).waitFor();
  await flawless();
}

async function correct(): Promise<void> {
  await press(dialog().getByRole('button', { name: 'Edit…' }).first());
  await dialog().getByRole('textbox', { name: 'Item' }).fill(CORRECTED);
  await flawless();
  await press(dialog().getByRole('button', { name: 'Save' }));
  await dialog().getByRole('textbox', { name: 'Item' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await ask('And what comes next?');
  expect(notes()).toContain(`- ${CORRECTED}\n`);
  expect(notes()).not.toContain(PREFERENCE);
}

async function undo(): Promise<void> {
  await ask(COFFEE);
  await read();
  await press(notice().getByRole('button', { name: `Undo “${COFFEE}”` }));
  await page.getByText('Undone. It is not learned again.').waitFor();
  await ask(`As I said: ${COFFEE}`);
  await read();
  await expect.poll(() => jobsLeft(customer.userId)).toBe(0);
  expect(await notice().count()).toBe(0);
  await ask('Which coffee?');
  expect(notes()).not.toContain('dark roast');
}

async function deleteItem(): Promise<void> {
  await open(ITEMS);
  await press(button(`Actions for “${CORRECTED}”`));
  await press(page.getByRole('menuitem', { name: 'Delete…' }));
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await flawless();
  await press(dialog().getByRole('button', { name: 'Delete' }));
  await page.getByText('Item deleted').waitFor();
  await page.getByText(CORRECTED).waitFor({ state: 'detached' });
  await open('/playground?model=budget');
  await press(button(/^Done with/));
  await page.getByText('Pick up where you left off').waitFor({ state: 'detached' });
  await ask('Hello');
  expect(notes()).toBe('');
}

async function turnOff(): Promise<void> {
  for (const text of ['I prefer tabs in code.', 'I am building a boat.']) await ask(text);
  await read();
  await notice().getByText('Learned: I am building a boat.').waitFor();
  await press(notice().getByRole('link', { name: 'Open all items' }));
  await turn('Preference profiles');
  await flawless();
  await press(dialog().getByRole('button', { name: 'Turn off' }));
  await page.getByText('1 item kept, not used').waitFor();
  await turn('What was I working on');
  await dialog()
    .getByRole('radio', { name: /^Delete the items/ })
    .press('Space');
  await press(dialog().getByRole('button', { name: 'Turn off' }));
  await page.getByText('Chats are not stored because all four switches are off.').waitFor();
  const list = page.getByRole('list', { name: 'What is known' });
  await list.getByText('I am building a boat.').waitFor({ state: 'detached' });
  await list.getByText('I prefer tabs in code.').waitFor();
  await open('/playground?model=budget');
  await ask('Hello');
  expect(notes()).toBe('');
}

describe.skipIf(chromiumPath === undefined).each(MANNERS)('Personal Intelligence, used $name,', (used) => {
  beforeAll(async () => {
    if (chromiumPath === undefined) return;
    manner = used;
    const email = `recall-${manner.width}@example.com`;
    customer = await addCustomer(house, '20', email);
    page = await signedIn(await sharedChromium(), email, manner);
    page.on('pageerror', (error) => problems.push(error.message));
  }, 120_000);

  afterAll(() => page?.context().close());

  beforeEach(() => {
    problems.length = 0;
  });

  test('starts with all switches off; two are turned on', turnOn);
  test('shows learned items in their chat', seeLearned);
  test('begins a new chat with an open task, and shows what was used in the reply', beginWithTask);
  test('corrects an item from the reply, and sends the corrected text', correct);
  test('undoes a learned item, and does not learn it again', undo);
  test('deletes an item on the page of items, and ends an open task', deleteItem);
  test('keeps or deletes the items of a switch that is turned off', turnOff);
});

async function jobsLeft(userId: string): Promise<number> {
  const { rows } = await house.database.query('select 1 from personal_job where user_id = $1', [userId]);
  return rows.length;
}
