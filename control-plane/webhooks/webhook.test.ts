/** Tests webhooks: outbox, signatures, repetitions and failures, with real receivers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { codesOf, pick } from '../../test/control/app.ts';
import { isSignedWith, startReceiver } from '../../test/control/webhook-receiver.ts';
import { LIST, openStage, startWebhookHouse } from '../../test/control/webhooks.ts';
import type { WebhookHouse, WebhookStage } from '../../test/control/webhooks.ts';
import { inTransaction, query, queryRow, sql } from '../database/sql.ts';
import { finish, reserveNext } from './delivery.rows.ts';
import { recordWebhook } from './outbox.ts';
import { ATTEMPTS_MAX } from './retry.rules.ts';
import { startWebhooks } from './worker.ts';

const ROTATE = `mutation ($id: ID!) { webhookSecretRotate(input: { id: $id }) {
  secret userErrors { code } } }`;
const REPLAY = `mutation ($id: ID!) { webhookDeliveryReplay(input: { id: $id }) {
  delivery { state } userErrors { code } } }`;
const COUNT_MAILS = sql`select count(*)::integer as n from mail_outbox`;

describe('webhooks', () => {
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

  /** Makes waiting deliveries due, as if the time until their next attempt had passed. */
  const skipPause = () =>
    query(
      house.em(),
      sql`update webhook_delivery set next_at = now(), reserved_until = null where state = 'PENDING'`,
    );

  it('reach the endpoints that want the event, signed, with the same content as in the list', async () => {
    const { secret } = await house.create({ url: stage.receiver.url });
    await house.create({ url: stage.receiver.url, events: ['POOL_ENDING'] });
    await house.happen();
    await stage.worker.deliverDue();
    const [delivery, ...others] = stage.receiver.received;
    expect(others).toEqual([]);
    expect(delivery && isSignedWith(secret, delivery)).toBe(true);
    expect(JSON.parse(delivery?.body ?? '')).toMatchObject({
      type: 'key.disabled',
      data: { keyId: 'key_1' },
    });
    const stored = await house.listed();
    expect(stored).toMatchObject([
      { type: 'key.disabled', state: 'DELIVERED', attempts: 1, responseStatus: 204, error: null },
    ]);
    expect(stored[0]?.eventId).toBe(delivery?.headers['webhook-id']);
  });

  it('are not sent when the transaction of their event is rolled back', async () => {
    await house.create({ url: stage.receiver.url });
    await inTransaction(house.em(), async (inner) => {
      await recordWebhook(inner, house.adminId, { type: 'KEY_DISABLED', data: {} });
      throw new Error('rolled back');
    }).catch(() => undefined);
    await stage.worker.deliverDue();
    expect(stage.receiver.received).toEqual([]);
  });

  it('are signed with both secrets after a rotation, and with the new one alone a day later', async () => {
    const { id, secret } = await house.create({ url: stage.receiver.url });
    const next = pick<string>(await house.admin.send(ROTATE, { id }), 'webhookSecretRotate', 'secret');
    await house.happen();
    await stage.worker.deliverDue();
    await query(house.em(), sql`update webhook_endpoint set previous_until = now()`);
    await house.happen();
    await stage.worker.deliverDue();
    const [both, alone] = stage.receiver.received;
    if (!both || !alone) throw new Error('A delivery is missing.');
    expect([isSignedWith(secret, both), isSignedWith(next, both)]).toEqual([true, true]);
    expect([isSignedWith(secret, alone), isSignedWith(next, alone)]).toEqual([false, true]);
  });

  it('store no secret in plain text', async () => {
    const { secret } = await house.create({ url: stage.receiver.url });
    const rows = await query(house.em(), sql`select * from webhook_endpoint`);
    expect(JSON.stringify(rows)).not.toContain(secret.slice('whsec_'.length));
  });

  it('are retried after any answer but success, also after redirects, which are not followed', async () => {
    await house.create({ url: stage.receiver.url });
    await house.happen();
    for (const status of [500, 302, 204]) {
      stage.receiver.status = status;
      await stage.worker.deliverDue();
      await skipPause();
    }
    expect(stage.receiver.received.map(({ headers }) => headers['webhook-id'])).toHaveLength(3);
    expect(new Set(stage.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await house.listed()).toMatchObject([{ state: 'DELIVERED', attempts: 3, responseStatus: 204 }]);
  });

  it('are sent by one process only, and again if that process died after sending', async () => {
    await house.create({ url: stage.receiver.url });
    await house.happen();
    const lost = await reserveNext(house.em());
    expect(lost?.attempts).toBe(1);
    await stage.worker.deliverDue();
    expect(stage.receiver.received).toEqual([]);
    await skipPause();
    for (let index = 0; index < 30; index += 1) await house.happen(`key_${index}`);
    const others = [1, 2, 3].map(() => startWebhooks({ em: house.em, settings: house.test.settings }));
    await Promise.all([stage.worker, ...others].map((each) => each.deliverDue()));
    // An owner has one delivery under way: a worker that finds nothing free looks again a second later.
    const states = async () => new Set((await house.listed()).map(({ state }) => state));
    await vi.waitFor(async () => expect(await states()).toEqual(new Set(['DELIVERED'])), { timeout: 20_000 });
    await Promise.all(others.map((each) => each.stop()));
    expect(stage.receiver.received).toHaveLength(31);
    expect(new Set(stage.receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(31);
    if (lost) await finish(house.em(), lost, { status: 500, error: 'STATUS' });
    expect((await house.listed()).every(({ state }) => state === 'DELIVERED')).toBe(true);
  });

  it('can be repeated one by one when they are finished', async () => {
    await house.create({ url: stage.receiver.url });
    await house.happen();
    const [waiting] = await house.listed();
    expect(codesOf(await house.admin.send(REPLAY, { id: waiting?.id }), 'webhookDeliveryReplay')).toEqual([
      'CONFLICT',
    ]);
    await stage.worker.deliverDue();
    expect(codesOf(await house.admin.send(REPLAY, { id: waiting?.id }), 'webhookDeliveryReplay')).toEqual([]);
    await stage.worker.deliverDue();
    const [first, second] = stage.receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    expect(second?.body).toBe(first?.body);
  });

  it('end after the last attempt; an endpoint that failed for long is disabled, with a mail', async () => {
    await house.create({ url: stage.receiver.url });
    await house.happen();
    stage.receiver.status = 500;
    await query(house.em(), sql`update webhook_delivery set attempts = ${ATTEMPTS_MAX - 1}`);
    await query(house.em(), sql`update webhook_endpoint set failing_since = now() - interval '25 hours'`);
    await house.happen('key_later');
    const mails = async () => (await queryRow<{ n: number }>(house.em(), COUNT_MAILS)).n;
    const before = await mails();
    await stage.worker.deliverDue();
    expect((await house.listed()).map(({ state }) => state)).toEqual(['FAILED', 'FAILED']);
    expect(await mails()).toBe(before + 1);
    const [endpoint] = pick<{ state: string }[]>(await house.admin.send(LIST), 'webhookEndpoints');
    expect(endpoint?.state).toBe('FAILED');
    await house.happen('key_unheard');
    expect(await house.listed()).toHaveLength(2);
  });

  it('end at once when the receiver answers 410', async () => {
    await house.create({ url: stage.receiver.url });
    stage.receiver.status = 410;
    await house.happen();
    await stage.worker.deliverDue();
    expect(pick<{ state: string }[]>(await house.admin.send(LIST), 'webhookEndpoints')).toMatchObject([
      { state: 'FAILED' },
    ]);
  });

  it('are not delayed by a slow receiver of another owner', async () => {
    await house.create({ url: stage.receiver.url });
    const other = await startReceiver();
    const quick = await house.test.user('quick@example.com');
    await query(house.em(), sql`update users set role = 'ADMIN' where email = 'quick@example.com'`);
    await house.create({ url: other.url, by: quick });
    const quickId = pick<string>(await quick.send('{ viewer { id } }'), 'viewer', 'id');
    stage.receiver.pauseMs = 10_000;
    await house.happen();
    await house.happen();
    const event = { type: 'KEY_DISABLED', data: {} } as const;
    await inTransaction(house.em(), (inner) => recordWebhook(inner, quickId, event));
    const all = stage.worker.deliverDue();
    await vi.waitFor(
      () => expect([other, stage.receiver].map(({ received }) => received.length)).toEqual([1, 1]),
      { timeout: 9_000 },
    );
    expect((await house.listed()).map(({ state }) => state)).toEqual(['PENDING', 'PENDING']);
    await stage.worker.stop();
    await all;
    await other.close();
  });
});
