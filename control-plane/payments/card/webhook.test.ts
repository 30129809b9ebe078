/** Tests of the webhook: what is accepted, what is refused, and that nothing refused is stored. */
import { connect } from 'node:net';
import { fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codesOf, pick } from '../../../test/control/app.ts';
import { newKey, openPayments, SECRET, SETTINGS } from '../../../test/control/payments.ts';
import type { PaymentHouse } from '../../../test/control/payments.ts';
import { query, queryOne, sql } from '../../database/sql.ts';
import { WEBHOOK_TOLERANCE_S } from '../../limits.ts';
import { registry } from '../../process/metrics.ts';
import { serveWebhook, WEBHOOK_PATH } from './webhook.routes.ts';

let house: PaymentHouse;
beforeAll(async () => {
  house = await openPayments();
});
afterAll(() => house.close());

const em = () => house.test.orm.em.fork();
const now = (): number => Math.floor(Date.now() / 1000);

/** A paid session whose event was not sent yet. */
async function paidEvent() {
  const customer = await house.customer();
  const { topUp, session } = await customer.open('25');
  house.processor.pay(session.id);
  return { customer, topUp, event: house.processor.event('checkout.session.completed', session.id) };
}

async function stored(id: string): Promise<string | undefined> {
  return (await queryOne<{ outcome: string }>(em(), sql`select outcome from payment_event where id = ${id}`))
    ?.outcome;
}

describe('an event', () => {
  it.each([
    ['with a tampered body', (body: string) => ({ body: body.replace('2500', '9900') })],
    ['signed with a foreign secret', () => ({ secret: 'whsec_somebody_else' })],
    ['without a valid header', () => ({ header: 't=1,v1=00' })],
    ['with a header of many signatures', () => ({ header: `t=${now()}${',v1=00'.repeat(2000)}` })],
    ['with an empty header', () => ({ header: '' })],
  ])('%s is refused with 400 and not stored', async (_name, options) => {
    const { customer, topUp, event } = await paidEvent();
    const body = JSON.stringify({ object: 'event', ...event });
    const answer = await house.processor.send(house.test.url, event, options(body));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error: expect.stringMatching(/signature/) });
    expect(await stored(event.id)).toBeUndefined();
    expect((await customer.topUp(topUp.id)).state).toBe('AWAITING_PAYMENT');
  });

  it('is refused if it is older than the tolerance, and accepted if it is younger', async () => {
    const { customer, event } = await paidEvent();
    const old = now() - WEBHOOK_TOLERANCE_S - 1;
    expect((await house.processor.send(house.test.url, event, { timestamp: old })).status).toBe(400);
    expect(await stored(event.id)).toBeUndefined();
    await house.processor.send(house.test.url, event, { timestamp: old + 5 });
    expect((await customer.wallet()).cash).toBe('25.00');
  });

  it('is accepted with each of several secrets, until its secret is removed', async () => {
    const second = 'whsec_second_of_two_secrets';
    const added = await house.admin.send(SECRET, {
      input: { label: 'second', secret: second, reason: 'rotation' },
    });
    expect(codesOf(added, 'adminWebhookSecretAdd')).toEqual([]);
    for (const secret of [second, house.processor.secret]) {
      const { customer, event } = await paidEvent();
      expect((await house.processor.send(house.test.url, event, { secret })).status).toBe(200);
      expect((await customer.wallet()).cash).toBe('25.00');
    }
    const secrets = pick<{ id: string; label: string }[]>(
      await house.admin.send('{ admin { paymentSettings { webhookSecrets { id label suffix } } } }'),
      ...['admin', 'paymentSettings', 'webhookSecrets'],
    );
    expect(secrets.map(({ label }) => label)).toEqual(['first', 'second']);
    expect(codesOf(await remove(secrets[1]?.id ?? ''), 'adminWebhookSecretRemove')).toEqual([]);
    const { event } = await paidEvent();
    expect((await house.processor.send(house.test.url, event, { secret: second })).status).toBe(400);
    expect(codesOf(await remove(secrets[0]?.id ?? ''), 'adminWebhookSecretRemove')).toEqual(['CONFLICT']);
  });

  it('shares a query for secrets with the events of its second if its signature is wrong', async () => {
    const server = fastify();
    server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    let queries = 0;
    const counted = () => {
      queries += 1;
      return em();
    };
    serveWebhook(server, { em: counted, settings: house.test.settings });
    const headers = { 'content-type': 'application/json' };
    const send = (signature: string) =>
      server.inject({
        method: 'POST',
        url: WEBHOOK_PATH,
        payload: '{}',
        headers: { ...headers, 'stripe-signature': signature },
      });
    const forged = Array.from({ length: 200 }, () => send(`t=${now()},v1=00`));
    const codes = (await Promise.all([...forged, send('nothing')])).map(({ statusCode }) => statusCode);
    expect([...new Set(codes)]).toEqual([400]);
    expect(queries).toBeLessThanOrEqual(2);
    await server.close();
  });

  it('of an unknown type is stored as ignored and gets 200', async () => {
    const { event } = await paidEvent();
    const unknown = { ...event, type: 'invoice.created' };
    expect((await house.processor.send(house.test.url, unknown)).status).toBe(200);
    expect(await stored(event.id)).toBe('IGNORED');
  });

  it('moves nothing and gets 200 for an unknown top-up, no top-up, or another payment', async () => {
    const { event, customer, topUp } = await paidEvent();
    const session = event.data.object;
    const foreign = [
      {
        client_reference_id: 'top_01ARZ3NDEKTSV4RRFFQ69G5FAV',
        metadata: { topup_id: 'top_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
      },
      { client_reference_id: 'order 7', metadata: {} },
      { client_reference_id: null, metadata: { topup_id: "top_' or 1=1" } },
      { client_reference_id: null, metadata: null },
      // Another session and payment of the account that name this top-up.
      { id: 'cs_other', payment_intent: 'pi_other' },
    ];
    for (const [at, change] of foreign.entries()) {
      const sent = { id: `${event.id}${at}`, type: event.type, data: { object: { ...session, ...change } } };
      expect((await house.processor.send(house.test.url, sent)).status).toBe(200);
      expect(await stored(sent.id)).toBe('UNMATCHED');
    }
    expect((await customer.topUp(topUp.id)).state).toBe('AWAITING_PAYMENT');
  });

  it.each([
    ['zero', 0],
    ['negative', -2500],
    ['fractional', 24.5],
    ['huge', 1e300],
    ['textual', '2500'],
    ['missing', undefined],
  ])('credits nothing with a %s amount', async (_name, amount_total) => {
    const { event, customer } = await paidEvent();
    const sent = { ...event, data: { object: { ...event.data.object, amount_total } } };
    expect((await house.processor.send(house.test.url, sent)).status).toBe(200);
    expect((await customer.wallet()).cash).toBe('0.00');
  });

  it('is refused if its signed body is not an event', async () => {
    for (const body of ['[]', 'null', '{"id":1}', '{"id":"evt_1","type":"x","data":{}}']) {
      const answer = await house.processor.send(house.test.url, JSON.parse(body) ?? {}, { body });
      expect([400]).toContain(answer.status);
    }
  });

  it('is applied once when 20 copies of it arrive at once', async () => {
    const { event, customer } = await paidEvent();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => house.processor.send(house.test.url, event)),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect((await customer.wallet()).cash).toBe('25.00');
  });
});

describe('the metrics', () => {
  /** Number of events by outcome. */
  const counts = async (): Promise<Record<string, number>> => {
    const metric = await registry.getSingleMetric('gateway_payment_webhook_events_total')?.get();
    return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels['outcome'], value]) ?? []);
  };

  it('count each event by its outcome', async () => {
    const { event } = await paidEvent();
    const before = await counts();
    const send = (change: object, options: object = {}) =>
      house.processor.send(house.test.url, { ...event, ...change }, options);
    await send({});
    await send({});
    await send({ id: `${event.id}_type`, type: 'invoice.created' });
    const foreign = { object: { ...event.data.object, id: 'cs_none', payment_intent: 'pi_none' } };
    await send({ id: `${event.id}_foreign`, data: foreign });
    await send({}, { secret: 'whsec_somebody_else' });
    const after = await counts();
    const added = (outcome: string) => (after[outcome] ?? 0) - (before[outcome] ?? 0);
    const outcomes = ['applied', 'repeated', 'ignored', 'unmatched', 'refused'];
    expect(outcomes.map(added)).toEqual([1, 1, 1, 1, 1]);
  });
});

describe('a body', () => {
  it('is refused above the limit of anonymous callers before it is read', async () => {
    const answer = await fetch(`${house.test.url}/webhooks/stripe`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: ' '.repeat(100 * 1024 + 1),
    });
    expect(answer.status).toBe(413);
  });

  it('is refused without a length', async () => {
    const { hostname, port } = new URL(house.test.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write('POST /webhooks/stripe HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
      });
      socket.once('data', (data) => {
        resolve(data.toString());
        socket.destroy();
      });
      socket.once('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 411/);
  });
});

describe('the settings', () => {
  it('never show a secret, and keep it sealed', async () => {
    const rows = await query<{ api_key: string; sealed: string }>(
      em(),
      sql`select api_key, sealed from payment_settings, payment_webhook_secret`,
    );
    for (const row of rows)
      for (const secret of [house.processor.key, house.processor.secret])
        expect(JSON.stringify(row)).not.toContain(secret);
    const log = await query<{ text: string }>(
      em(),
      sql`select coalesce(after::text, '') as text from audit_event`,
    );
    expect(log.some(({ text }) => text.includes('sk_test') || text.includes('whsec_'))).toBe(false);
  });

  it('require the key again for another address, and refuse limits that contradict each other', async () => {
    const read = '{ admin { paymentSettings { version apiAddress } } }';
    const before = pick<{ version: number }>(await house.admin.send(read), 'admin', 'paymentSettings');
    const { version } = before;
    const set = async (change: object) =>
      codesOf(
        await house.admin.send(SETTINGS, { input: { version, reason: 'x', ...change } }),
        'adminPaymentSettingsSet',
      );
    expect(await set({ apiAddress: 'https://203.0.113.7' })).toEqual(['REQUIRED']);
    expect(await set({ apiAddress: `${house.processor.url}/v1` })).toEqual(['INVALID']);
    expect(await set({ amountMin: '0.001' })).toEqual(['INVALID']);
    expect(await set({ amountMin: '2000' })).toEqual(['INVALID']);
    expect(await set({ presets: ['1'] })).toEqual(['INVALID']);
    expect(await set({ apiKey: 'short' })).toEqual(['INVALID']);
    expect(await set({ taxCode: 'x' })).toEqual(['INVALID']);
    expect(await set({ version: version - 1 })).toEqual(['STALE_VERSION']);
    expect(pick(await house.admin.send(read), 'admin', 'paymentSettings')).toEqual(before);
  });
});

describe('without a configured processor', () => {
  it('the method is absent, a top-up is refused, and the webhook answers 404', async () => {
    const bare = await openPayments();
    await query(
      bare.test.orm.em.fork(),
      sql`update payment_settings set card_enabled = false, api_key = null`,
    );
    await query(bare.test.orm.em.fork(), sql`delete from payment_webhook_secret`);
    const customer = await bare.customer();
    const options = '{ paymentOptions { methods card { presets } } }';
    expect((await customer.browser.send(options)).data).toEqual({
      paymentOptions: { methods: [], card: null },
    });
    expect(codesOf(await customer.begin('25', { idempotencyKey: newKey() }), 'topUpCardCreate')).toEqual([
      'CONFLICT',
    ]);
    expect(
      (
        await fetch(`${bare.test.url}/webhooks/stripe`, {
          method: 'POST',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        })
      ).status,
    ).toBe(404);
    await bare.close();
  });

  it('is offered with a configured processor, and its terms are public', async () => {
    const answer = await house.test
      .browser()
      .send('{ paymentOptions { methods card { amountMin amountMax dailyMax presets playMoney } } }');
    expect(answer.data).toMatchObject({
      paymentOptions: { methods: ['CARD'], card: { amountMin: '5.00', playMoney: false } },
    });
  });
});

function remove(id: string) {
  const mutation = `mutation ($input: AdminReasonInput!) { adminWebhookSecretRemove(input: $input) {
    settings { version } userErrors { code } } }`;
  return house.admin.send(mutation, { input: { id, reason: 'rotation' } });
}
