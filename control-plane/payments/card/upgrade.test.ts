/** Tests of the upgrade of databases with automatic top-ups in flight, saved cards, and corrections. */
import pg from 'pg';
import { expect, it } from 'vitest';
import { createEmptyDatabase } from '../../../test/database.ts';
import { migrate } from '../../database/orm.ts';
import { migrations } from '../../migrations/index.ts';

/** The migration that stores cards with attempts. */
const CARDS = '058-attempt-cards';

const FILL = `
  insert into users (id, email) values ('usr_1', 'one@example.com'), ('usr_2', 'two@example.com');
  insert into wallet (id, user_id) values ('wal_1', 'usr_1'), ('wal_2', 'usr_2');
  insert into saved_card (wallet_id, customer_id, method_id, brand, last4, expires_month, expires_year)
    values ('wal_1', 'cus_1', 'pm_1', 'visa', '4242', 12, 2030);
  insert into top_up
    (id, user_id, wallet_id, method, automatic, stage, state, amount, check_at, paid, save_card)
  values
    ('top_card', 'usr_1', 'wal_1', 'CARD', true, 'CREATED', 'CREATED', 1000000, now(), null, false),
    ('top_none', 'usr_2', 'wal_2', 'CARD', true, 'CREATED', 'CREATED', 1000000, now(), null, false),
    ('top_done', 'usr_1', 'wal_1', 'CARD', true, 'CREATED', 'CREDITED', 1000000, null, 1000000, false),
    ('top_saved', 'usr_1', 'wal_1', 'CARD', false, 'CREATED', 'CREDITED', 1000000, null, 1000000, true),
    ('top_new', 'usr_1', 'wal_1', 'CARD', false, 'CREATED', 'CREDITED', 1000000, now(), 1000000, true)`;

/** Fills the tables as they were before the migration, migrates, and returns the rows of a query. */
async function upgraded(migration: string, { fill, read }: { fill: string; read: string }) {
  const database = await createEmptyDatabase();
  const first = migrations.findIndex(({ name }) => name === migration);
  await migrate(database.url, migrations.slice(0, first));
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(fill);
  await migrate(database.url, migrations);
  const { rows } = await client.query<object>(read);
  await client.end();
  await database.drop();
  return rows;
}

it('gives attempts in flight the saved card, and saves no card again', async () => {
  const read = `select id, state, card_customer_id, card_method_id, save_card, check_at is null as over
    from top_up order by id`;
  const rows = await upgraded(CARDS, { fill: FILL, read });
  const none = { card_customer_id: null, card_method_id: null };
  const card = { card_customer_id: 'cus_1', card_method_id: 'pm_1' };
  expect(rows).toEqual([
    { id: 'top_card', state: 'CREATED', ...card, save_card: false, over: false },
    { id: 'top_done', state: 'CREDITED', ...none, save_card: false, over: true },
    { id: 'top_new', state: 'CREDITED', ...none, save_card: true, over: false },
    { id: 'top_none', state: 'FAILED', ...none, save_card: false, over: true },
    { id: 'top_saved', state: 'CREDITED', ...none, save_card: false, over: true },
  ]);
});

it('gives corrections and stopped chains the facts that their texts say', async () => {
  const fill = `
    insert into payment_correction (id, kind, detail) values
      ('fix_1', 'MISSED_EVENT', '5.00 US dollars that no event had reported; now PARTIALLY_REFUNDED.'),
      ('fix_2', 'MISSED_EVENT', '5.00 US dollars that no event had reported; now null.');
    insert into crypto_chain (chain_id, name, enabled, confirmations, needs_finality, start_block, rpc_sealed,
      rpc_hosts, frozen_at, frozen_reason)
    select id, 'chain', true, 1, false, 0, array['x', 'y'], array['x', 'y'], at,
      'Block 38104422 (0xab) left the chain after a deposit of it was credited.'
    from (values (1, now()), (2, null)) c (id, at)`;
  const read = `select id, state from payment_correction
    union all select chain_id::text, frozen_block::text from crypto_chain order by id`;
  expect(await upgraded('059-named-facts', { fill, read })).toEqual([
    { id: '1', state: '38104422' },
    { id: '2', state: null },
    { id: 'fix_1', state: 'PARTIALLY_REFUNDED' },
    { id: 'fix_2', state: null },
  ]);
});
