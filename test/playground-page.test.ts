/**
 * The Playground as a person meets it: the built console in a real browser, over the whole house, from the
 * price before sending to the deleted chat.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { CHROMIUM_FLAGS, findChromium } from '../console/test/chromium.ts';
import { findFreePort } from '../control-plane/local/ports.ts';
import { createEmptyDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { addCustomer, addUpstream, ADMIN, startHouse } from './house.ts';
import type { Customer, House } from './house.ts';
import {
  ASK_MARKUP,
  FIRST_HALF,
  type HeldUpstream,
  HOLD,
  questionOf,
  SECOND_HALF,
  startHeldUpstream,
} from './playground/upstream.ts';

const EMAIL = 'mara@example.com';
/** One pixel. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

const chrome = await findChromium();
/** A browser on a busy machine takes its time; a page that hangs takes longer. */
vi.setConfig({ testTimeout: 90_000 });

let database: TestDatabase;
let house: House;
let upstream: HeldUpstream;
let customer: Customer;
let browser: Browser;
let page: Page;
/** Addresses of other sites that the page asked for, and errors it met. */
const complaints: string[] = [];

beforeAll(async () => {
  if (chrome === undefined) return;
  upstream = await startHeldUpstream();
  database = await createEmptyDatabase();
  const dataPort = await findFreePort();
  const controlEnv = { PUBLIC_URL: `http://localhost:${dataPort}` };
  house = await startHouse({ databaseUrl: database.url, dataPort, controlEnv });
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['balanced', 'budget'] });
  customer = await addCustomer(house, '20', EMAIL);
  browser = await chromium.launch({ executablePath: chrome, args: CHROMIUM_FLAGS });
  page = await signedIn();
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await house?.stop();
  await upstream?.close();
  await database?.drop();
});

beforeEach(() => {
  complaints.length = 0;
  if (upstream) upstream.broken = false;
});

async function signedIn(): Promise<Page> {
  const console = `http://localhost:${house.control.port}`;
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
  });
  const opened = await context.newPage();
  opened.setDefaultTimeout(30_000);
  opened.on('pageerror', (error) => complaints.push(error.message));
  opened.on('request', (request) => {
    const elsewhere = !/^(blob|data):/.test(request.url()) && !request.url().startsWith(console);
    if (elsewhere) complaints.push(`asked ${request.url()}`);
  });
  await opened.goto(`${console}/sign-in?next=%2Fplayground`);
  await opened.getByLabel('Email').fill(EMAIL);
  await opened.getByLabel('Password', { exact: true }).fill(ADMIN.password);
  await opened.keyboard.press('Enter');
  await opened.waitForURL(/\/playground/);
  return opened;
}

const composer = (): Locator => page.getByRole('textbox', { name: /^Write a/ });
const replies = (): Locator => page.getByRole('article').filter({ has: page.locator('header') });
const button = (name: string | RegExp, exact = true): Locator => page.getByRole('button', { name, exact });

/** The button is there once the chat that is shown has begun. */
async function newChat(): Promise<void> {
  const fresh = page
    .getByRole('banner')
    .or(page.locator('section'))
    .getByRole('button', { name: 'New chat' })
    .last();
  if ((await fresh.count()) > 0) await fresh.click();
  await page.getByRole('heading', { name: 'Ask a model' }).waitFor();
}

async function pick(model: string): Promise<void> {
  await button(/^Model:/).click();
  await page.getByRole('menuitemradio', { name: new RegExp(`^${model} `) }).click();
  await menuClosed();
}

/** A menu gives the focus back to its button as it closes: keys pressed before that would open it again. */
async function menuClosed(): Promise<void> {
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate(() => document.activeElement?.ariaHasPopup)).toBe('menu');
}

async function ask(text: string): Promise<void> {
  await composer().fill(text);
  await composer().press('Enter');
}

/** Waits until the last reply says this and is charged. */
async function charged(text: string): Promise<void> {
  await replies().last().getByText(text).waitFor();
  await replies()
    .last()
    .getByText(/charged$/)
    .waitFor();
}

const turnOn = (enabled: boolean): Promise<unknown> =>
  customer.api.mutate(
    'personalSwitchSet',
    { kind: 'PREFERENCE_PROFILE', enabled },
    'personalIntelligence { storing }',
  );

/** Chats of other days, until no more may be stored. */
const fillStore = (): Promise<unknown> =>
  house.database.query(
    `insert into conversation (id, user_id, title, model_name, created_at, updated_at)
      select 'con_filled_' || n, $1, 'Filled ' || n, 'budget', now(), now() - n * interval '1 day'
      from generate_series(1, 1000 - (select count(*)::integer from conversation where user_id = $1)) n`,
    [customer.userId],
  );

describe.skipIf(chrome === undefined)('the Playground, storing nothing', () => {
  test('shows the price of the picked model before sending, and writes the reply as it comes', async () => {
    await page.getByText('Not stored.').waitFor();
    await pick('budget');
    await page.getByText('$0.03 per message').waitFor();
    await ask(`Please ${HOLD} on`);
    await replies().last().getByText(FIRST_HALF).waitFor();
    expect(await replies().last().textContent()).not.toContain(SECOND_HALF.trim());
    upstream.goOn();
    await charged(`${FIRST_HALF}${SECOND_HALF}`);
    await replies().last().getByText('$0.03 charged').waitFor();
  });

  test('Escape stops a reply; what was written stays', async () => {
    await ask(`Now ${HOLD} again`);
    await replies().nth(1).getByText(FIRST_HALF).waitFor();
    await page.keyboard.press('Escape');
    await replies().nth(1).getByText('Stopped').waitFor();
    await button('Send').waitFor();
    upstream.goOn();
    expect(await replies().nth(1).textContent()).not.toContain(SECOND_HALF.trim());
  });
});

describe.skipIf(chrome === undefined)('a chat with branches', () => {
  test('a chat that is not stored sends along what came before, on the branch that is shown', async () => {
    await newChat();
    await ask('one');
    await charged('budget heard: one');
    await ask('two');
    await charged('budget heard: two');
    const said = upstream.seen.at(-1)?.messages.map((message) => message.content);
    expect(said).toEqual(['one', 'budget heard: one', 'two']);
  });

  test('another reply by another model stands beside the first, and both can be shown', async () => {
    await button('Another reply by').last().click();
    await page.getByRole('menuitemradio', { name: /^balanced / }).click();
    await charged('balanced heard: two');
    expect(await replies().count()).toBe(2);
    await page.getByText('2 of 2').waitFor();
    await button('Previous version').click();
    await replies().last().getByText('budget heard: two').waitFor();
    await ask('three');
    await charged('heard: three');
    const said = upstream.seen.at(-1)?.messages.map((message) => message.content);
    expect(said?.slice(-2)).toEqual(['budget heard: two', 'three']);
  });

  test('an edited question begins a branch; the earlier one can be shown again', async () => {
    await button('Edit').first().click();
    await composer().fill('uno');
    await page.keyboard.press('Enter');
    await charged('heard: uno');
    expect(await replies().count()).toBe(1);
    expect(upstream.seen.at(-1)?.messages).toHaveLength(1);
    await button('Previous version').click();
    await page.getByText('heard: three').waitFor();
    expect(await replies().count()).toBe(3);
  });
});

describe.skipIf(chrome === undefined)('a reply in the Playground', () => {
  test('a failed reply says that it is free and which request it was, and is asked again', async () => {
    await newChat();
    upstream.broken = true;
    await ask('Are you there');
    await page.getByText('The reply failed. It was not charged.').waitFor();
    await button('Copy the request id').waitFor();
    upstream.broken = false;
    await button('Retry').click();
    await charged('heard: Are you there');
  });

  test('pictures go to a model that sees, and to no other', async () => {
    await newChat();
    await pick('budget');
    expect(await button('This model does not see pictures').isDisabled()).toBe(true);
    await pick('balanced');
    const chooser = page.waitForEvent('filechooser');
    await button('Add pictures').click();
    await (await chooser).setFiles({ name: 'pixel.png', mimeType: 'image/png', buffer: PICTURE });
    await page.getByRole('img', { name: 'Picture 1' }).waitFor();
    await ask('What is this');
    await charged('balanced heard: What is this');
    const { content } = upstream.seen.at(-1)?.messages.at(-1) ?? {};
    expect(JSON.stringify(content)).toContain('data:image/jpeg;base64,');
  });

  test('raw HTML stays text, pictures from elsewhere stay away, links show where they lead', async () => {
    await newChat();
    await ask(`Some ${ASK_MARKUP}`);
    await replies()
      .last()
      .getByText(/charged$/)
      .waitFor();
    const reply = replies().last();
    await reply.getByText('Picture not loaded: https://elsewhere.example/picture.png').waitFor();
    await reply.getByText('(https://elsewhere.example/path)').waitFor();
    await reply.getByRole('button', { name: 'Copy the code' }).waitFor();
    expect(await reply.locator('img, script').count()).toBe(0);
    expect(await page.title()).not.toContain('broken in');
    expect(complaints).toEqual([]);
  });
});

describe.skipIf(chrome === undefined)('from the Playground', () => {
  test('the shown API call answers when it is run', async () => {
    await newChat();
    await pick('budget');
    await composer().fill("It's a 'quoted' question");
    await button('View as API call').click();
    const command = await page.getByRole('dialog').locator('pre').textContent();
    await page.keyboard.press('Escape');
    const env = { ...process.env, GATEWAY_API_KEY: customer.key };
    const { stdout } = await promisify(execFile)('sh', ['-c', command ?? ''], { env });
    expect(stdout).toContain("budget heard: It's a 'quoted' question");
    expect(stdout).toContain('[DONE]');
  });

  test('a reload comes back to the reply that is being written', async () => {
    await newChat();
    await ask(`Do ${HOLD} it`);
    await replies().last().getByText(FIRST_HALF).waitFor();
    await page.reload();
    await replies().last().getByText(FIRST_HALF).waitFor();
    await button(/^Stop/).waitFor();
    upstream.goOn();
    await charged(`${FIRST_HALF}${SECOND_HALF}`);
  });
});

describe.skipIf(chrome === undefined)('the Playground, storing chats', () => {
  test('says that it stores, and keeps every branch over a reload', async () => {
    await turnOn(true);
    await page.goto(`http://localhost:${house.control.port}/playground?model=budget`);
    await page.getByText('Stored.', { exact: true }).waitFor();
    await ask('Remember tram orchid');
    await charged('budget heard: Remember tram orchid');
    await button('Another reply', true).click();
    await page.getByText('2 of 2').waitFor();
    await charged('heard: Remember tram orchid');
    await page.reload();
    await page.getByText('2 of 2').waitFor();
    await button('Previous version').click();
    await ask('Go on here');
    await charged('heard: Go on here');
    await page.reload();
    await page.getByText('1 of 2').waitFor();
    expect(upstream.seen.map(questionOf).at(-1)).toBe('Go on here');
  });

  test('a temporary chat is not stored, and is in no list', async () => {
    await newChat();
    await page.getByRole('switch', { name: 'Temporary chat' }).check();
    await page.getByText('A temporary chat is never stored').waitFor();
    await ask('Forget violet anchor');
    await charged('heard: Forget violet anchor');
    const { rows } = await house.database.query(
      "select 1 from conversation_message where content like '%violet anchor%'",
    );
    expect(rows).toEqual([]);
    expect(await page.getByRole('navigation', { name: 'Chats' }).getByText('violet').count()).toBe(0);
  });
});

describe.skipIf(chrome === undefined)('the list of chats', () => {
  test('finds chats by their words, renames and deletes them', async () => {
    await newChat();
    await ask('Second harbour');
    await charged('heard: Second harbour');
    const chats = page.getByRole('navigation', { name: 'Chats' });
    await chats.getByRole('link', { name: 'Second harbour' }).waitFor();
    await chats.getByRole('searchbox').fill('orchid');
    await chats.getByRole('link', { name: 'Second harbour' }).waitFor({ state: 'detached' });
    await chats.getByRole('link', { name: /orchid/ }).waitFor();
    await chats.getByRole('searchbox').fill('');
    await chats.getByRole('button', { name: 'Actions for Second harbour' }).click();
    await page.getByRole('menuitem', { name: 'Rename' }).click();
    await page.getByLabel('Title').fill('Third quay');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await chats.getByRole('link', { name: 'Third quay' }).waitFor();
    await chats.getByRole('button', { name: 'Actions for Third quay' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await chats.getByRole('link', { name: 'Third quay' }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Ask a model' }).waitFor();
  });
});

describe.skipIf(chrome === undefined)('the room for chats', () => {
  test('is told when it is taken, and older chats are a page away', async () => {
    await fillStore();
    await page.goto(`http://localhost:${house.control.port}/playground?model=budget`);
    const chats = page.getByRole('navigation', { name: 'Chats' });
    await chats.getByText('No room is left for new chats. Delete some, or use temporary chats.').waitFor();
    await chats.getByRole('link', { name: 'Filled 1', exact: true }).waitFor();
    await chats.getByRole('button', { name: 'Older' }).click();
    await page.waitForURL(/after=/);
    await chats.getByRole('link', { name: 'Filled 70', exact: true }).waitFor();
    await chats.getByRole('button', { name: 'Back to the newest' }).click();
    await chats.getByRole('link', { name: 'Filled 1', exact: true }).waitFor();
  });

  test('is needed: a message without is refused unpaid, and goes on as a temporary chat', async () => {
    const asked = upstream.seen.length;
    await ask('Amber lantern');
    await page.getByRole('alert').getByText('There is no room to store this.').waitFor();
    expect([await composer().inputValue(), upstream.seen.length]).toEqual(['Amber lantern', asked]);
    await button('Temporary chat').click();
    await page.getByText('A temporary chat is never stored').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await composer().press('Enter');
    await charged('heard: Amber lantern');
  });

  test('of one chat ends, too: what was written goes on in a new one by a button', async () => {
    await house.database.query("update conversation set bytes = 20000000 where title ilike '%orchid%'");
    await page.getByRole('link', { name: /orchid/ }).click();
    await replies().last().getByText('heard: Go on here').waitFor();
    await ask('Copper sail');
    await page.getByRole('alert').getByText('This chat is as long as a stored chat can be.').waitFor();
    await house.database.query("delete from conversation where title like 'Filled %'");
    const refusal = page.getByRole('alert').locator('..');
    await refusal.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('heading', { name: 'Ask a model' }).waitFor();
    expect(await composer().inputValue()).toBe('Copper sail');
    await composer().press('Enter');
    await charged('heard: Copper sail');
  });
});

describe.skipIf(chrome === undefined)('all chats', () => {
  test('are deleted once the word is typed', async () => {
    await button('Delete chats…').click();
    await page.getByLabel('Type DELETE to confirm').fill('DELETE');
    await button('Delete all').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { rows } = await house.database.query<{ count: number }>(
      'select count(*)::int as count from conversation_message',
    );
    expect(rows).toEqual([{ count: 0 }]);
    await turnOn(false);
  });
});
