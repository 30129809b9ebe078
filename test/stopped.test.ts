/**
 * Tests what happens to a running answer when its key or account is disabled, over both planes: the answer is
 * cut at once, charged if the owner caused it, and free if an administrator did.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN, addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';
import { startUpstream } from './upstream.ts';
import type { FakeUpstream } from './upstream.ts';

const SETTLED_WITHIN_MS = 20_000;
const CUT_WITHIN_MS = 10_000;
const REASON = 'seen in abuse reports';
const PRICE_MICROS = 30_000;
const BALANCE_MICROS = 1_000_000;

const CLOSE = 'mutation ($input: ReauthenticateInput!) { accountDelete(input: $input) { ok } }';
const DISABLE =
  'mutation ($input: AdminReasonInput!) { adminApiKeyDisable(input: $input) { apiKey { id } } }';

const chunk = (delta: object) => `data: ${JSON.stringify({ id: 'c1', choices: [{ index: 0, delta }] })}\n\n`;

let house: House;
let upstream: FakeUpstream;

beforeAll(async () => {
  upstream = await startUpstream(() => ({
    headers: { 'content-type': 'text/event-stream' },
    chunks: [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Half of it' })],
    hang: 'after-chunks',
  }));
  house = await openSharedHouse();
  await addUpstream(house, { baseUrl: `${upstream.origin}/v1`, models: ['budget'] });
});

afterAll(async () => {
  await upstream?.close();
});

/** Streams an answer, calls `onText` at the first text, and resolves with all text when the answer is cut. */
async function stream({ key }: Customer, onText: () => Promise<unknown>): Promise<string> {
  const timeout = new AbortController();
  const response = await fetch(`${house.url}/v1/chat/completions`, {
    method: 'POST',
    signal: timeout.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'budget', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const decoder = new TextDecoder();
  let text = '';
  let acted: Promise<unknown> | undefined;
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (text.includes('Half of it'))
        acted ??= onText().finally(() => setTimeout(() => timeout.abort(), CUT_WITHIN_MS).unref());
    }
  } catch {
    // The node closes the connection in the middle of the body.
  }
  await acted;
  return text;
}

/** The only row of the usage log and the balance of the wallet, once the request is settled. */
async function settled({
  walletId,
  keyId,
}: Customer): Promise<{ outcome: string; cost: number; left: number }> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const { rows } = await house.database.query<{ outcome: string; cost: number; left: number }>(
      `select u.outcome, u.cost::int as cost,
        (select sum(balance)::int from ledger_account where wallet_id = $2) as left
        from usage_entry u where u.key_id = $1`,
      [keyId, walletId],
    );
    const [row] = rows;
    if (row) {
      expect(rows).toHaveLength(1);
      return row;
    }
    if (Date.now() > until) throw new Error('The request did not appear in the usage log in time.');
    await pause(50);
  }
}

describe('a running answer', () => {
  it.each([
    {
      who: 'its owner disables the key',
      act: ({ api, keyId }: Customer) => api.mutate('apiKeyDisable', { id: keyId }, 'apiKey { id }'),
      outcome: 'KEY_CUT',
    },
    {
      who: 'its owner closes the account',
      act: ({ api }: Customer) => api.query(CLOSE, { input: { password: ADMIN.password } }),
      outcome: 'KEY_CUT',
    },
    {
      who: 'an administrator disables the key',
      act: ({ keyId }: Customer) => house.admin.query(DISABLE, { input: { id: keyId, reason: REASON } }),
      outcome: 'OPERATOR_CUT',
    },
    {
      who: 'an administrator suspends the account',
      act: ({ userId }: Customer) =>
        house.admin.mutate(
          'adminUserUpdate',
          { id: userId, state: 'SUSPENDED', reason: REASON },
          'user { id }',
        ),
      outcome: 'OPERATOR_CUT',
    },
  ])('is cut with $outcome when $who', async ({ act, outcome }) => {
    const customer = await addCustomer(house, '1');
    const text = await stream(customer, () => act(customer));
    expect(text).toContain('key_disabled');
    expect(text).not.toContain('[DONE]');
    const cost = outcome === 'KEY_CUT' ? PRICE_MICROS : 0;
    expect(await settled(customer)).toEqual({ outcome, cost, left: BALANCE_MICROS - cost });
    const { rows } = await house.database.query('select sum(balance)::int as sum from ledger_account');
    expect(rows).toEqual([{ sum: 0 }]);
  });
});
