/** Tests webhook endpoints: addresses, rights, limits and erasure. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codesOf, pick } from '../../test/control/app.ts';
import { CREATE, LIST, openStage, startWebhookHouse } from '../../test/control/webhooks.ts';
import type { WebhookHouse, WebhookStage } from '../../test/control/webhooks.ts';
import { createFirstToken } from '../configuration/first-token.ts';
import { inTransaction, query, queryOne, queryRow, sql } from '../database/sql.ts';
import { recordOperatorWebhook, recordWebhook } from './outbox.ts';

const UPDATE = `mutation ($input: WebhookEndpointUpdateInput!) { webhookEndpointUpdate(input: $input) {
  endpoint { state version } userErrors { code } } }`;
const DELETE = `mutation ($id: ID!) { webhookEndpointDelete(input: { id: $id }) { ok userErrors { code } } }`;
/** A public address. These tests send nothing there. */
const PUBLIC = 'https://93.184.216.34/';

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

  it('are not sent to private addresses or without TLS for customers, whatever is stored', async () => {
    const user = await house.test.user('customer@example.com');
    for (const url of [
      stage.receiver.url,
      'http://example.com',
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://10.1.2.3/x',
    ])
      expect(
        codesOf(
          await user.send(CREATE, { input: { url, events: ['KEY_DISABLED'] } }),
          'webhookEndpointCreate',
        ),
      ).toEqual(['INVALID']);
    const created = await house.create({ url: stage.receiver.url });
    await query(
      house.em(),
      sql`update webhook_endpoint set owner_id = (select id from users where email = 'customer@example.com')
      where id = ${created.id}`,
    );
    const owner = await queryOne<{ id: string }>(
      house.em(),
      sql`select owner_id as id from webhook_endpoint`,
    );
    await inTransaction(house.em(), (inner) =>
      recordWebhook(inner, owner?.id ?? '', { type: 'KEY_DISABLED', data: {} }),
    );
    await stage.worker.deliverDue();
    expect(stage.receiver.received).toEqual([]);
    expect(await queryRow(house.em(), sql`select last_error from webhook_delivery`)).toEqual({
      last_error: 'ADDRESS',
    });
  });

  it('can report upstreams to administrators only', async () => {
    const user = await house.test.user('curious@example.com');
    const choose = async (events: string[]) =>
      codesOf(await user.send(CREATE, { input: { url: PUBLIC, events } }), 'webhookEndpointCreate');
    expect(await choose(['UPSTREAM_DOWN'])).toEqual(['INVALID']);
    expect(await choose(['KEY_DISABLED'])).toEqual([]);
    await house.create({ url: stage.receiver.url, events: ['UPSTREAM_DOWN', 'UPSTREAM_RECOVERED'] });
    await query(
      house.em(),
      sql`insert into webhook_endpoint (id, owner_id, url, description, events, state, sealed_secret)
      select 'whe_curious', id, ${stage.receiver.url}, '', '{UPSTREAM_DOWN}', 'ENABLED', 'x' from users
      where email = 'curious@example.com'`,
    );
    await inTransaction(house.em(), (inner) =>
      recordOperatorWebhook(inner, { type: 'UPSTREAM_DOWN', data: { providerId: 'prv_1', name: 'north' } }),
    );
    await stage.worker.deliverDue();
    expect(stage.receiver.received.map(({ body }) => JSON.parse(body) as unknown)).toMatchObject([
      { type: 'upstream.down', data: { name: 'north' } },
    ]);
  });

  it('are at most ten per user, and 1,000 waiting deliveries per endpoint', async () => {
    for (let index = 0; index < 10; index += 1) await house.create({ url: stage.receiver.url });
    const input = { url: stage.receiver.url, events: ['KEY_DISABLED'] };
    expect(codesOf(await house.admin.send(CREATE, { input }), 'webhookEndpointCreate')).toEqual([
      'LIMIT_REACHED',
    ]);
    await query(
      house.em(),
      sql`delete from webhook_endpoint where id <> (select min(id) from webhook_endpoint)`,
    );
    await query(
      house.em(),
      sql`insert into webhook_delivery (id, event_id, endpoint_id, owner_id, type, payload)
      select 'whd_' || n, 'x', e.id, e.owner_id, 'x', '{}'
      from webhook_endpoint e, generate_series(1, 999) n`,
    );
    await house.happen();
    await house.happen();
    expect(await queryRow(house.em(), sql`select count(*)::integer as n from webhook_delivery`)).toEqual({
      n: 1000,
    });
  });

  it('are changed only by tokens with the scope, and belong to their owner', async () => {
    const { id } = await house.create({ url: stage.receiver.url });
    const token = (scopes: string[]) =>
      createFirstToken(house.test.settings.databaseUrl, {
        name: 'x',
        scopes,
        days: 1,
        email: 'admin@example.com',
      });
    const [reader, writer] = [await token(['WEBHOOKS_READ']), await token(['WEBHOOKS_WRITE'])];
    const as = (secret: string, text: string, variables = {}) =>
      house.test.browser().send(text, variables, { authorization: `Bearer ${secret}` });
    expect((await as(reader, LIST)).errors).toEqual([]);
    expect((await as(reader, DELETE, { id })).errors[0]?.extensions.code).toBe('FORBIDDEN');
    const stranger = await house.test.user('stranger@example.com');
    expect(codesOf(await stranger.send(DELETE, { id }), 'webhookEndpointDelete')).toEqual(['NOT_FOUND']);
    const stale = { id, version: 7, enabled: false };
    expect(codesOf(await as(writer, UPDATE, { input: stale }), 'webhookEndpointUpdate')).toEqual([
      'STALE_VERSION',
    ]);
    const change = { id, version: 1, enabled: false };
    expect(pick(await as(writer, UPDATE, { input: change }), 'webhookEndpointUpdate', 'endpoint')).toEqual({
      state: 'DISABLED',
      version: 2,
    });
    expect(codesOf(await as(writer, DELETE, { id }), 'webhookEndpointDelete')).toEqual([]);
  });

  it('are erased with the account of their owner', async () => {
    const user = await house.test.user('leaving@example.com');
    await query(
      house.em(),
      sql`insert into webhook_endpoint (id, owner_id, url, description, events, state, sealed_secret)
      select 'whe_leaving', id, 'https://leaving.example/', '', '{KEY_DISABLED}', 'ENABLED', 'x' from users
      where email = 'leaving@example.com'`,
    );
    await user.send(
      'mutation { accountDelete(input: { password: "a long enough password" }) { ok userErrors { code } } }',
    );
    expect(await query(house.em(), sql`select id from webhook_endpoint`)).toEqual([]);
  });
});
