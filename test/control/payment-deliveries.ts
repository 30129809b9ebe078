/** Delivers events of payments to PostgreSQL as a control plane does that is killed after each step. */
import pg from 'pg';
import type { EntityManager } from '@mikro-orm/postgresql';
import { SYSTEM_ACTOR } from '../../control-plane/graphql/context.ts';
import { inTransaction, query, queryOne, sql } from '../../control-plane/database/sql.ts';
import { applyEvent } from '../../control-plane/payments/card/events.service.ts';
import type { ProcessorEvent } from '../../control-plane/payments/card/facts.ts';
import { createTopUp } from '../../control-plane/payments/topup.service.ts';
import { ADMIN_SHUTDOWN } from '../database.ts';
import { eventsOf, leftAfter } from './payment-events.ts';

const ACTOR = { ...SYSTEM_ACTOR, kind: 'WEBHOOK' as const };

/**
 * The steps of a transaction that applies an event: its writes, and its commit. A refund or dispute may also
 * be stored before its payment is known, and written again when the payment becomes known.
 */
export const STEPS = [
  'INSERT payment_event',
  'INSERT ledger_transaction',
  'INSERT ledger_entry',
  'UPDATE ledger_account',
  'UPDATE top_up',
  'INSERT top_up_refund',
  'UPDATE top_up_refund',
  'INSERT top_up_dispute',
  'UPDATE top_up_dispute',
  'UPDATE payment_event',
  'COMMIT',
] as const;

/** A step after which the connection of the process ends. */
export type Step = (typeof STEPS)[number];

/** The process is killed before its transaction commits. */
class Killed extends Error {}

/**
 * Makes the database at `url` end the connection of each transaction that has set `test.dies_after` to a step
 * once it has done this step.
 */
export async function addKills(url: string): Promise<void> {
  const owner = new pg.Client({ connectionString: url });
  await owner.connect();
  // Only the owner may end a connection.
  await owner.query(`create function die() returns trigger language plpgsql security definer as $$ begin
    if current_setting('test.dies_after', true) = coalesce(tg_argv[0], tg_op || ' ' || tg_table_name)
    then perform pg_terminate_backend(pg_backend_pid()); end if;
    return null; end $$`);
  const tables = new Set(STEPS.flatMap((step) => step.split(' ')[1] ?? []));
  for (const table of tables)
    await owner.query(
      `create trigger die after insert or update on ${table} for each row execute function die()`,
    );
  await owner.query(`create constraint trigger die_at_commit after insert on payment_event
    deferrable initially deferred for each row execute function die('COMMIT')`);
  await owner.end();
}

interface Delivery {
  /** A wallet without entries. */
  walletId: string;
  /** Places of the events in the order of the processor. */
  order: readonly number[];
  /** Makes ids unique. */
  tag: string;
  /** Steps after which a process is killed at the event with this place in `order`. */
  killsAt?: (place: number) => readonly Step[];
}

/**
 * Delivers the events to a new top-up. At each event a first process is killed before the commit, one more
 * after each step of `killsAt`, and the last one after the commit and before its answer, so that the
 * processor sends the event again. Compares the wallet with what is due after each event. Returns what
 * differs (empty if nothing does), and after which steps a connection was ended.
 */
export async function deliver(
  em: () => EntityManager,
  { walletId, order, tag, killsAt = () => [] }: Delivery,
): Promise<{ faults: string[]; killed: Step[] }> {
  const draft = { walletId, method: 'CARD' as const, amount: 25_000_000n };
  const topUpId = await createTopUp(em(), draft);
  const events = eventsOf(topUpId, tag);
  const killed: Step[] = [];
  const faults: string[] = [];
  for (const [place, at] of order.entries()) {
    const event = events[at];
    if (!event) throw new Error(`There is no event ${at}.`);
    await dieBeforeCommit(em(), event);
    for (const step of killsAt(place)) if (await dieAfter(em(), event, step)) killed.push(step);
    await applyEvent(em(), event, ACTOR);
    const again = await applyEvent(em(), event, ACTOR);
    if (again !== 'REPEATED') faults.push(`event ${at} was applied twice`);
    const known = order.slice(0, place + 1);
    const wanted = leftAfter(known);
    const booked = await bookedOf(em(), walletId);
    if (booked.sum !== String(wanted.sum) || booked.credits !== wanted.credits)
      faults.push(`${known.join('')}: ${JSON.stringify(booked)}`);
  }
  const state = await stateOf(em(), topUpId);
  if (state !== 'PARTIALLY_REFUNDED') faults.push(`${order.join('')}: ${state}`);
  return { faults, killed };
}

/** Net micro-USD in the wallet's accounts, debts included, and the number of credits by card. */
async function bookedOf(em: EntityManager, walletId: string): Promise<{ sum?: string; credits?: number }> {
  const booked = await queryOne<{ sum: string; credits: number }>(
    em,
    sql`select coalesce(sum(amount), 0)::text as sum,
      (count(distinct transaction_id) filter (where kind = 'TOP_UP_CARD'))::integer as credits
    from ledger_entry where wallet_id = ${walletId}`,
  );
  return booked ?? {};
}

async function stateOf(em: EntityManager, topUpId: string): Promise<string | undefined> {
  const row = await queryOne<{ state: string }>(em, sql`select state from top_up where id = ${topUpId}`);
  return row?.state;
}

async function dieBeforeCommit(em: EntityManager, event: ProcessorEvent): Promise<void> {
  try {
    await inTransaction(em, async (inner) => {
      await applyEvent(inner, event, ACTOR);
      throw new Killed();
    });
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}

/**
 * Applies the event on a connection that ends after the step. Returns false if the event has no such step:
 * then its transaction is rolled back.
 */
async function dieAfter(em: EntityManager, event: ProcessorEvent, step: Step): Promise<boolean> {
  try {
    await inTransaction(em, async (inner) => {
      await query(inner, sql`select set_config('test.dies_after', ${step}, true)`);
      await applyEvent(inner, event, ACTOR);
      if (step !== 'COMMIT') throw new Killed();
    });
  } catch (error) {
    if (error instanceof Killed) return false;
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== ADMIN_SHUTDOWN) throw error;
    return true;
  }
  throw new Error('The transaction was committed although its connection was to end.');
}
