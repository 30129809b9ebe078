/** The scripts of docs/api.md, word for word, against a whole house. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer } from './house.ts';
import type { Customer, House } from './house.ts';
import { offerCards } from './house/cards.ts';
import type { CardHouse } from './house/cards.ts';
import { openSharedHouse } from './house/shared.ts';
import type { ApiClient } from './house/client.ts';
import { startProcess } from './house/process.ts';

const PAGE = join(import.meta.dirname, '..', 'docs', 'api.md');
const SCRIPT = /^### (\S+\.sh)\n[^]*?^```sh\n([^]*?)^```$/gm;
const RUN_MS = 120_000;
const UPSTREAM_KEY = 'secret-of-the-upstream';
const run = promisify(execFile);
const scripts = [...readFileSync(PAGE, 'utf8').matchAll(SCRIPT)].map(([, name = '', text = '']) => ({
  name,
  text,
}));

let folder: string;
let cards: CardHouse;
let house: House;
let adminToken: string;
let customer: Customer;
let customerToken: string;
let rotated = '';
const tried = new Set(['api.sh']);
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent' });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'api-scripts-'));
  for (const { name, text } of scripts) writeFileSync(join(folder, name), text);
  mock.on({ predicate: () => true }, { content: 'Hello.' });
  await mock.start();
  house = await openSharedHouse();
  cards = await offerCards(house);
  const wanted = /ADMIN_\w+/g;
  adminToken = await tokenOf(house.admin, [...new Set(readFileSync(PAGE, 'utf8').match(wanted))]);
  customer = await addCustomer(house, '0');
  customerToken = await tokenOf(customer.api, ['POOLS_WRITE', 'KEYS_WRITE']);
});

afterAll(async () => {
  await cards.close();
  await mock.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function tokenOf(api: ApiClient, scopes: string[]): Promise<string> {
  const { secret } = await api.mutate<{ secret: string }>(
    'accessTokenCreate',
    { name: 'script', scopes, expiresInDays: 1 },
    'secret',
  );
  return secret;
}

/** Runs a script of the page, as an administrator unless `more` says so, and returns the lines it printed. */
async function script(
  name: string,
  given: string[],
  more: { TOKEN?: string; UPSTREAM_KEY?: string } = {},
): Promise<string[]> {
  tried.add(name);
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    CONTROL: house.controlUrl,
    TOKEN: adminToken,
    UPSTREAM_KEY,
    ...more,
  };
  const { stdout } = await run('sh', [name, ...given], { cwd: folder, env, timeout: RUN_MS });
  return stdout.trim().split('\n');
}

const addUpstream = (name = 'east', more: { UPSTREAM_KEY?: string } = {}): Promise<string[]> =>
  script('add-upstream.sh', [name, `${mock.url}/v1`, 'swift', 'their-model'], more);

/** How much there is of the one upstream with this name. */
async function partsOf(name: string): Promise<{ credentials: number; routes: number } | undefined> {
  const { rows } = await house.database.query<{ credentials: number; routes: number }>(
    `select (select count(*)::integer from credential c where c.provider_id = p.id) as credentials,
      (select count(*)::integer from route r where r.provider_id = p.id) as routes
    from provider p where p.name = $1`,
    [name],
  );
  return rows[0];
}

/** Asks the model for an answer; the status, and the id under which it is in the books. */
async function ask(key: string): Promise<{ status: number; requestId: string | null }> {
  const response = await fetch(`${house.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'swift', messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  return { status: response.status, requestId: response.headers.get('x-request-id') };
}

describe('the scripts of docs/api.md', { timeout: RUN_MS }, () => {
  it('create an account, and a link for its owner', async () => {
    const [link = '', id] = await script('create-user.sh', ['ann@example.com']);
    expect(new URL(link).pathname).toMatch(/^\/(activate|reset)$/);
    const { rows } = await house.database.query('select id, state from users where email = $1', [
      'ann@example.com',
    ]);
    expect(rows).toEqual([{ id, state: 'ACTIVE' }]);
  });

  it('credit a wallet, once', async () => {
    const given = [customer.userId, '500', 'invoice-1042'];
    expect(await script('top-up.sh', given)).toEqual(['500.00']);
    expect(await script('top-up.sh', given)).toEqual(['500.00']);
    await expect(script('top-up.sh', [customer.userId, '501', 'invoice-1042'])).rejects.toThrow(
      /IDEMPOTENCY_MISMATCH/,
    );
  });

  it('list a top-up that is stuck, and refund a part of it once', async () => {
    const paid = await cards.pay(customer, '25');
    expect(await script('list-stuck-top-ups.sh', [])).toEqual(['']);
    await house.database.query("update top_up set issue = 'REFUND_FAILED' where id = $1", [paid]);
    const [line] = await script('list-stuck-top-ups.sh', []);
    expect(line).toMatch(new RegExp(`^${paid} CREDITED 25.00 REFUND_FAILED customer-\\w+@example.com$`));
    const given = [paid, '5.00', 'ticket-77'];
    expect(await script('refund.sh', given)).toEqual(['PARTIALLY_REFUNDED']);
    expect(await script('refund.sh', given)).toEqual(['PARTIALLY_REFUNDED']);
    const { rows } = await house.database.query('select refunded from top_up where id = $1', [paid]);
    expect(rows).toEqual([{ refunded: '5000000' }]);
    await expect(script('refund.sh', [paid, '50', 'ticket-78'])).rejects.toThrow(/INVALID|CONFLICT/);
  });

  it('add an upstream that then answers requests for a model', async () => {
    const [route] = await addUpstream();
    expect(route).toMatch(/^rte_/);
    await house.applied();
    expect(await ask(customer.key)).toMatchObject({ status: 200 });
  });

  it('continue an upstream after a failed step, and add nothing twice', async () => {
    const name = 'west 1.0=new';
    const broken = addUpstream(name, { UPSTREAM_KEY: 'no secret' });
    await expect(broken).rejects.toThrow(/INVALID: Enter a secret of/);
    expect(await partsOf(name)).toEqual({ credentials: 0, routes: 0 });
    const made = await addUpstream(name);
    expect(made).toEqual([expect.stringMatching(/^rte_/)]);
    expect(await addUpstream(name)).toEqual(made);
    expect(await partsOf(name)).toEqual({ credentials: 1, routes: 1 });
    const elsewhere = script('add-upstream.sh', [name, 'https://api.example.com/v1', 'swift', 'their-model']);
    await expect(elsewhere).rejects.toThrow(`${name} is at ${mock.url}/v1 already.`);
  });

  it('open the storefront and sell a pool, whose key works for that pool only', async () => {
    expect(await script('open-storefront.sh', ['99.00'])).toEqual(['OPEN']);
    const [address = '', key = ''] = await script('buy-pool.sh', ['lyon', 'swift'], { TOKEN: customerToken });
    expect(new URL(address).hostname).toBe('lyon.localhost');
    expect(key).toMatch(/^sk-\w{48}$/);
    await house.applied();
    expect(await ask(key)).toMatchObject({ status: 403 });
  });

  it('export the requests of a month', async () => {
    const { requestId } = await ask(customer.key);
    const month = new Date().toISOString().slice(0, 7);
    await expect
      .poll(() => script('export-month.sh', [month]), { timeout: RUN_MS, interval: 500 })
      .toContainEqual(expect.stringContaining(requestId ?? 'no id'));
    expect(await script('export-month.sh', ['2001-12'])).toHaveLength(1);
  });

  it('rotate a key: the new secret and the old one work', async () => {
    [rotated = ''] = await script('rotate-key.sh', [customer.keyId, '2026-11'], { TOKEN: customerToken });
    await house.applied();
    expect(rotated).not.toBe(customer.key);
    expect([(await ask(rotated)).status, (await ask(customer.key)).status]).toEqual([200, 200]);
  });

  it('disable a leaked key, which is refused when the script has ended', async () => {
    const lines = await script('disable-leaked-key.sh', [customer.keyId], { TOKEN: customerToken });
    expect(lines).toEqual(['refused by 1 nodes']);
    expect([401, 403]).toContain((await ask(rotated)).status);
    expect([401, 403]).toContain((await ask(customer.key)).status);
  });

  it('create a node that starts with the printed settings, and drain it until it is deleted', async () => {
    const [id = '', ...settings] = await script('create-node.sh', ['node-9']);
    const env = Object.fromEntries(settings.map((line) => line.split(/=(.*)/).slice(0, 2)));
    const folders = { DATA_DIR: join(folder, 'node-9'), DRAIN_SECONDS: '1' };
    const node = await startProcess({
      entry: 'data-plane/main.ts',
      env: { HOST: '127.0.0.1', DATA_PORT: '0', ...folders, ...env },
      logFile: join(folder, 'node-9.log'),
    });
    await house.applied();
    const gone = once(node.child, 'exit');
    const drained = script('drain-node.sh', [id]);
    expect(await gone).toEqual([0, null]);
    // The node becomes OFFLINE after a time without contact.
    await house.database.query(
      "update data_plane_node set last_seen_at = last_seen_at - interval '20 seconds' where id = $1",
      [id],
    );
    expect(await drained).toEqual(['OFFLINE']);
  });

  it('change the ratio of a group, with a line in the audit log', async () => {
    const [ratio, event = ''] = await script('set-ratio.sh', ['VIP', '0.85']);
    expect(ratio).toBe('0.85');
    expect(JSON.parse(event)).toMatchObject({
      ...{ action: 'group-ratio.set', reason: 'new terms' },
      ...{ before: { ratio: '0.9' }, after: { ratio: '0.85' } },
    });
    expect((await script('set-ratio.sh', ['VIP', '0.9']))[0]).toBe('0.9');
  });

  it('print the missing scope, and fail', async () => {
    const failure = await script('set-ratio.sh', ['VIP', '0.5'], { TOKEN: customerToken }).catch(
      (error: unknown) => String(error),
    );
    expect(failure).toContain(
      'FORBIDDEN: This access token lacks the scope ADMIN_CATALOG. Create one that has it.',
    );
  });

  it('fail with one line that states the reason', async () => {
    const failure = await script('create-user.sh', ['ann@example.com']).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'TAKEN: An account with this address already exists. Choose another address.\n',
    });
  });

  it('are all run by the tests above', () => {
    expect(scripts.map(({ name }) => name).filter((name) => !tried.has(name))).toEqual([]);
    expect(scripts.length).toBeGreaterThan(10);
  });
});
