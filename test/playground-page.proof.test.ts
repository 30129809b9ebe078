/**
 * Tests the Playground in the built console, in a real browser over both planes, from the price of a message
 * to the deletion of chats.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { chromiumPath, sharedChromium } from '../console/test/chromium.ts';
import { tabAndPress, tabTo } from '../console/test/visit.ts';
import { addCustomer, addUpstream, ADMIN } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';
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

/** Long enough for a browser on a busy machine. */
vi.setConfig({ testTimeout: 90_000 });

let house: House;
let upstream: HeldUpstream;
let customer: Customer;
let page: Page;
/** Errors of the page, and its requests to other sites. */
const problems: string[] = [];

beforeAll(async () => {
  if (chromiumPath === undefined) return;
  upstream = await startHeldUpstream();
  house = await openSharedHouse();
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['balanced', 'budget'] });
  customer = await addCustomer(house, '20', EMAIL);
  page = await signedIn();
}, 120_000);

afterAll(async () => {
  await page?.context().close();
  await upstream?.close();
});

beforeEach(() => {
  problems.length = 0;
  if (upstream) upstream.broken = false;
});

async function signedIn(): Promise<Page> {
  const console = `http://localhost:${house.control.port}`;
  const context = await (
    await sharedChromium()
  ).newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
  const opened = await context.newPage();
  opened.setDefaultTimeout(30_000);
  opened.on('pageerror', (error) => problems.push(error.message));
  opened.on('request', (request) => {
    const isForeign = !/^(blob|data):/.test(request.url()) && !request.url().startsWith(console);
    if (isForeign) problems.push(`request to ${request.url()}`);
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

/** Starts a new chat. The button exists only after the current chat has a message. */
async function newChat(): Promise<void> {
  const newChatButton = page
    .getByRole('banner')
    .or(page.locator('section'))
    .getByRole('button', { name: 'New chat' })
    .last();
  if ((await newChatButton.count()) > 0) await newChatButton.click();
  await page.getByRole('heading', { name: 'Ask a model' }).waitFor();
}

async function pick(model: string): Promise<void> {
  await button(/^Model:/).click();
  await page.getByRole('option', { name: new RegExp(`^${model} `) }).click();
  await page.getByRole('dialog', { name: 'Model' }).waitFor({ state: 'detached' });
  await expect.poll(() => page.evaluate(() => document.activeElement?.ariaHasPopup)).toBe('dialog');
}

async function ask(text: string): Promise<void> {
  await composer().fill(text);
  await composer().press('Enter');
}

/** Waits until the last reply contains this text and is charged. */
async function charged(text: string): Promise<void> {
  await replies().last().getByText(text).waitFor();
  await replies()
    .last()
    .getByText(/charged$/)
    .waitFor();
}

const setSwitch = (enabled: boolean): Promise<unknown> =>
  customer.api.mutate(
    'personalSwitchSet',
    { kind: 'PREFERENCE_PROFILE', enabled },
    'personalIntelligence { storing }',
  );

/** Stores chats until the limit is reached. */
const fillStore = (): Promise<unknown> =>
  house.database.query(
    `insert into conversation (id, user_id, title, model_name, created_at, updated_at)
      select 'con_filled_' || n, $1, 'Filled ' || n, 'budget', now(), now() - n * interval '1 day'
      from generate_series(1, 1000 - (select count(*)::integer from conversation where user_id = $1)) n`,
    [customer.userId],
  );

describe.skipIf(chromiumPath === undefined)('the Playground without storing', () => {
  test('shows the price of the chosen model before sending, and streams the reply', async () => {
    await page.getByText('Not stored.').waitFor();
    await pick('budget');
    await page.getByText('$0.03 per message').waitFor();
    await ask(`Please ${HOLD} on`);
    await replies().last().getByText(FIRST_HALF).waitFor();
    expect(await replies().last().textContent()).not.toContain(SECOND_HALF.trim());
    upstream.resume();
    await charged(`${FIRST_HALF}${SECOND_HALF}`);
    await replies().last().getByText('$0.03 charged').waitFor();
  });

  test('stops a reply by Escape and keeps its text so far', async () => {
    await ask(`Now ${HOLD} again`);
    await replies().nth(1).getByText(FIRST_HALF).waitFor();
    await page.keyboard.press('Escape');
    await replies().nth(1).getByText('Stopped').waitFor();
    await button('Send').waitFor();
    upstream.resume();
    expect(await replies().nth(1).textContent()).not.toContain(SECOND_HALF.trim());
  });
});

describe.skipIf(chromiumPath === undefined)('a chat with branches', () => {
  test('sends the earlier messages of the shown branch if it is not stored', async () => {
    await newChat();
    await ask('one');
    await charged('budget heard: one');
    await ask('two');
    await charged('budget heard: two');
    const contents = upstream.seen.at(-1)?.messages.map((message) => message.content);
    expect(contents).toEqual(['one', 'budget heard: one', 'two']);
  });

  test('keeps the first reply beside another reply by another model, and can show both', async () => {
    await button('Reply again with').last().click();
    await page.getByRole('option', { name: /^balanced / }).click();
    await charged('balanced heard: two');
    expect(await replies().count()).toBe(2);
    await page.getByText('2 of 2').waitFor();
    await button('Previous version').click();
    await replies().last().getByText('budget heard: two').waitFor();
    await ask('three');
    await charged('heard: three');
    const contents = upstream.seen.at(-1)?.messages.map((message) => message.content);
    expect(contents?.slice(-2)).toEqual(['budget heard: two', 'three']);
  });

  test('starts a branch when a question is edited, and can show the earlier branch again', async () => {
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

describe.skipIf(chromiumPath === undefined)('a reply in the Playground', () => {
  test('shows after a failure that it is free, with its request id, and can be retried', async () => {
    await newChat();
    upstream.broken = true;
    await ask('Are you there');
    await page.getByText('The reply failed. You were not charged.').waitFor();
    await button('Copy the request id').waitFor();
    upstream.broken = false;
    await button('Retry').click();
    await charged('heard: Are you there');
  });

  test('can have pictures only if the model accepts images', async () => {
    await newChat();
    await pick('budget');
    expect(await button('This model cannot read pictures').isDisabled()).toBe(true);
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

  test('shows raw HTML as text, shows where links lead, and loads no foreign pictures', async () => {
    await newChat();
    await ask(`Some ${ASK_MARKUP}`);
    await replies()
      .last()
      .getByText(/charged$/)
      .waitFor();
    const reply = replies().last();
    await reply.getByText('Picture not loaded: https://elsewhere.example/picture.png').waitFor();
    await reply.getByText('(https://elsewhere.example/path)').waitFor();
    await reply.getByRole('button', { name: 'Copy the code' }).last().waitFor();
    // The page has icons of its own, which are SVG without scripts.
    expect(await reply.locator('img, script, iframe, svg[onload]').count()).toBe(0);
    const links = await reply.locator('a').evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual(['https://elsewhere.example/path']);
    expect(await page.title()).not.toContain('broken in');
    expect(problems).toEqual([]);
  });
});

describe.skipIf(chromiumPath === undefined)('a message in the Playground', () => {
  test('is shown as an API call that works when it is run', async () => {
    await newChat();
    await pick('budget');
    await composer().fill("It's a 'quoted' question");
    await button('View as API call').click();
    const command = await page.getByRole('dialog').locator('pre').textContent();
    await page.keyboard.press('Escape');
    const env = { ...process.env, GATEWAY_KEY: customer.key };
    const { stdout } = await promisify(execFile)('sh', ['-c', command ?? ''], { env });
    expect(stdout).toContain("budget heard: It's a 'quoted' question");
    expect(stdout).toContain('[DONE]');
  });

  test('shows its running reply again after a reload', async () => {
    await newChat();
    await ask(`Do ${HOLD} it`);
    await replies().last().getByText(FIRST_HALF).waitFor();
    await page.reload();
    await replies().last().getByText(FIRST_HALF).waitFor();
    await button(/^Stop/).waitFor();
    upstream.resume();
    await charged(`${FIRST_HALF}${SECOND_HALF}`);
  });
});

describe.skipIf(chromiumPath === undefined)('a comparison in the Playground', () => {
  test('asks both models at once by keyboard, stops one, and shows time and charge of each', async () => {
    await page.goto(`http://localhost:${house.control.port}/playground?compare=budget,balanced`);
    const column = (name: string): Locator => page.getByRole('region', { name, exact: true });
    await page.getByText('2 models, $0.28 per message').waitFor();
    await tabTo(page, composer());
    await page.keyboard.type(`Please ${HOLD} on`);
    await page.keyboard.press('Enter');
    for (const name of ['budget', 'balanced']) await column(name).getByText(FIRST_HALF).waitFor();
    await tabAndPress(page, button('Stop budget'));
    await column('budget').getByText('Stopped').waitFor();
    upstream.resume();
    await column('balanced').getByText(`${FIRST_HALF}${SECOND_HALF}`).waitFor();
    await column('balanced').getByText('$0.25 charged').waitFor();
    await column('balanced')
      .getByText(/to first token$/)
      .waitFor();
    expect(await column('budget').textContent()).not.toContain(SECOND_HALF.trim());
    const { rows } = await house.database.query('select id from conversation where user_id = $1', [
      customer.userId,
    ]);
    expect(rows).toEqual([]);
  });

  test('sends the system prompt to the models, and each model its own earlier replies', async () => {
    await button(/^Settings of replies/).click();
    await page.getByLabel('System prompt').fill('Be brief.');
    await button('Apply').click();
    upstream.seen.length = 0;
    await ask('And now');
    await page.getByRole('region', { name: 'balanced' }).getByText('balanced heard: And now').waitFor();
    await page.getByRole('region', { name: 'budget' }).getByText('budget heard: And now').waitFor();
    for (const { messages } of upstream.seen) {
      expect(messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
      expect(messages).toHaveLength(4);
    }
    await page.goto(`http://localhost:${house.control.port}/playground`);
  });
});

describe.skipIf(chromiumPath === undefined)('the Playground with storing', () => {
  test('shows that it stores chats, and keeps every branch after a reload', async () => {
    await setSwitch(true);
    await page.goto(`http://localhost:${house.control.port}/playground?model=budget`);
    await page.getByText('Stored.', { exact: true }).waitFor();
    await ask('Remember tram orchid');
    await charged('budget heard: Remember tram orchid');
    await button('Reply again', true).click();
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

  test('does not store or list a temporary chat', async () => {
    const stored = async () =>
      (await house.database.query('select id from conversation_message order by id')).rows;
    const before = await stored();
    await newChat();
    await page.getByRole('switch', { name: 'Temporary chat' }).check();
    await page.getByText('A temporary chat is never stored').waitFor();
    await ask('Forget violet anchor');
    await charged('heard: Forget violet anchor');
    expect(await stored()).toEqual(before);
    expect(await page.getByRole('navigation', { name: 'Chats' }).getByText('violet').count()).toBe(0);
  });
});

describe.skipIf(chromiumPath === undefined)('the list of chats', () => {
  test('searches chats by text, renames and deletes them', async () => {
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

describe.skipIf(chromiumPath === undefined)('the storage for chats', () => {
  test('shows that it is full, and lists older chats on the next page', async () => {
    await fillStore();
    await page.goto(`http://localhost:${house.control.port}/playground?model=budget`);
    const chats = page.getByRole('navigation', { name: 'Chats' });
    await chats.getByText('Chat storage is full. Delete chats, or use temporary chats.').waitFor();
    await chats.getByRole('link', { name: 'Filled 1', exact: true }).waitFor();
    await chats.getByRole('button', { name: 'Next', exact: true }).click();
    await page.waitForURL(/after=/);
    await chats.getByRole('link', { name: 'Filled 70', exact: true }).waitFor();
    await chats.getByRole('button', { name: 'First page' }).click();
    await chats.getByRole('link', { name: 'Filled 1', exact: true }).waitFor();
  });

  test('refuses a message without a charge when it is full, and offers a temporary chat', async () => {
    const requests = upstream.seen.length;
    await ask('Amber lantern');
    await page.getByRole('alert').getByText('Chat storage is full.').waitFor();
    expect([await composer().inputValue(), upstream.seen.length]).toEqual(['Amber lantern', requests]);
    await button('Temporary chat').click();
    await page.getByText('A temporary chat is never stored').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await composer().press('Enter');
    await charged('heard: Amber lantern');
  });

  test('limits one chat too, and a button moves the message to a new chat', async () => {
    const chat = page.getByRole('link', { name: /orchid/ });
    const id = /con_\w+/.exec((await chat.getAttribute('href')) ?? '')?.[0];
    await house.database.query('update conversation set bytes = 20000000 where id = $1', [id]);
    await chat.click();
    await replies().last().getByText('heard: Go on here').waitFor();
    await ask('Copper sail');
    await page.getByRole('alert').getByText('This chat is full.').waitFor();
    await house.database.query("delete from conversation where id like 'con_filled_%'");
    const refusal = page.getByRole('alert').locator('..');
    await refusal.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('heading', { name: 'Ask a model' }).waitFor();
    expect(await composer().inputValue()).toBe('Copper sail');
    await composer().press('Enter');
    await charged('heard: Copper sail');
  });
});

describe.skipIf(chromiumPath === undefined)('all chats', () => {
  test('are deleted after the word DELETE is typed', async () => {
    await button('Delete chats…').click();
    await page.getByLabel('Type DELETE to confirm').fill('DELETE');
    await button('Delete all').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { rows } = await house.database.query<{ count: number }>(
      'select count(*)::int as count from conversation where user_id = $1',
      [customer.userId],
    );
    expect(rows).toEqual([{ count: 0 }]);
    await setSwitch(false);
  });
});
