/** Tests that what happens in the gateway reaches webhooks. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { pick } from '../../test/control/app.ts';
import { openStage, startWebhookHouse } from '../../test/control/webhooks.ts';
import type { WebhookHouse, WebhookStage } from '../../test/control/webhooks.ts';
import { query, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { recordCryptoTopUp } from '../payments/topup.service.ts';
import { warnLowBalances } from '../wallet/notice.service.ts';
import { reportUpstreams } from './upstream-events.ts';

let house: WebhookHouse;
let stage: WebhookStage;
beforeAll(async () => {
  house = await startWebhookHouse();
});
beforeEach(async () => {
  stage = await openStage(house);
});
afterEach(() => stage.close());
afterAll(() => house.test.close());

/** The events that have arrived, without their times. */
async function arrived(): Promise<unknown[]> {
  await stage.worker.deliverDue();
  return stage.receiver.received.map(({ body }) => {
    const { type, data } = JSON.parse(body) as { type: string; data: unknown };
    return { type, data };
  });
}

it('a disabled key, a credited top-up and a low balance are reported once to their owner', async () => {
  await house.create({
    url: stage.receiver.url,
    events: ['KEY_DISABLED', 'TOP_UP_CREDITED', 'WALLET_LOW_BALANCE'],
  });
  const made = await house.admin.send(
    `mutation { apiKeyCreate(input: { name: "robot", idempotencyKey: "k" }) { apiKey { id } } }`,
  );
  const keyId = pick<string>(made, 'apiKeyCreate', 'apiKey', 'id');
  const act = (name: string) =>
    house.admin.send(`mutation ($id: ID!) { ${name}(input: { id: $id }) { userErrors { code } } }`, {
      id: keyId,
    });
  for (const name of ['apiKeyReveal', 'apiKeyDisable', 'apiKeyDisable']) await act(name);
  const viewer = await house.admin.send('{ viewer { wallet { id } } }');
  const walletId = pick<string>(viewer, 'viewer', 'wallet', 'id');
  const deposit = { walletId, reference: 'chain:1', amount: 5_000_000n, actor: SYSTEM_ACTOR };
  for (const state of ['SEEN', 'CREDITED', 'CREDITED'] as const)
    await recordCryptoTopUp(house.em(), { ...deposit, state });
  await query(house.em(), sql`update wallet set low_balance_threshold = 9000000 where id = ${walletId}`);
  for (const _ of [1, 2]) await warnLowBalances(house.em());
  expect(await arrived()).toMatchObject([
    { type: 'key.disabled', data: { keyId, name: 'robot', reason: 'OWNER' } },
    { type: 'top_up.credited', data: { amount: '5.00', method: 'CRYPTO', playMoney: false } },
    { type: 'wallet.low_balance', data: { walletId, balance: '5.00', threshold: '9.00' } },
  ]);
});

it('an upstream that fails on all nodes is reported once, and again when it works', async () => {
  await house.create({ url: stage.receiver.url, events: ['UPSTREAM_DOWN', 'UPSTREAM_RECOVERED'] });
  await query(
    house.em(),
    sql`insert into provider (id, name, protocols, base_url, enabled, timeouts)
    values ('prv_1', 'north', '{openai-chat}', 'http://127.0.0.1:9/v1', true, '{}')`,
  );
  await query(
    house.em(),
    sql`insert into data_plane_node (id, name, token_digest) values ('nod_1', 'node-1', 'x')`,
  );
  const report = async (circuit: string, failed: number): Promise<void> => {
    await query(
      house.em(),
      sql`insert into upstream_health (node_id, provider_id, at, circuit, requests, busy, timeouts,
        refused, failed)
      values ('nod_1', 'prv_1', clock_timestamp(), ${circuit}, 10, 0, 0, 0, ${failed})
      on conflict (node_id, provider_id) do update
      set at = excluded.at, circuit = excluded.circuit, failed = excluded.failed`,
    );
    // Several control planes look at once.
    await Promise.all([1, 2, 3].map(() => reportUpstreams(house.em())));
  };
  await report('OPEN', 10);
  await report('OPEN', 10);
  await report('CLOSED', 0);
  expect(await arrived()).toEqual([
    { type: 'upstream.down', data: { providerId: 'prv_1', name: 'north' } },
    { type: 'upstream.recovered', data: { providerId: 'prv_1', name: 'north' } },
  ]);
});
