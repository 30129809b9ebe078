/**
 * Lives of a disputed payment of which any events are lost, while the comparison with the processor is killed
 * after each of its writes: one whole comparison brings the books to those of the processor.
 */
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPayments } from '../../../test/control/payments.ts';
import type { PaymentHouse } from '../../../test/control/payments.ts';
import { randomOf } from '../../../test/chaos/random.ts';
import type { Random } from '../../../test/chaos/random.ts';
import { PROOF_SEED } from '../../../test/seeds.ts';
import { queryRow, sql } from '../../database/sql.ts';
import { checkInvariants } from '../../wallet/invariants.ts';
import { comparePayments, runPayments } from '../payment.jobs.ts';

type End = 'open' | 'won' | 'lost';
type Refunded = 'never' | 'before' | 'between' | 'after';

/** The life of a payment of 25 dollars at the processor. */
interface Life {
  /** Cents of the dispute. */
  disputed: number;
  end: End;
  /** When 3 dollars are refunded: before the dispute, before its end, or after it. */
  refunded: Refunded;
}

const PAID_CENTS = 2500;
const REFUND_CENTS = 300;
const LIVES: Life[] = [250, PAID_CENTS].flatMap((disputed) =>
  (['open', 'won', 'lost'] as const).flatMap((end) =>
    (['never', 'before', 'between', 'after'] as const).map((refunded) => ({ disputed, end, refunded })),
  ),
);
const COMPARISONS = ['top-ups', 'balance'] as const;
const MICROS_PER_CENT = 10_000;
/** Tables that a comparison writes. */
const TABLES = [
  ...['ledger_transaction', 'ledger_entry', 'ledger_account', 'payment_correction'],
  ...['top_up', 'top_up_refund', 'top_up_dispute'],
];
/** No connection ends. */
const NEVER = 1_000_000_000;
/** More writes than a comparison makes. */
const WRITES_MAX = 200;
const TEST_MS = 600_000;

let house: PaymentHouse;
let owner: pg.Client;
beforeAll(async () => {
  house = await openPayments();
  owner = new pg.Client({ connectionString: house.test.settings.databaseUrl });
  await owner.connect();
  await addDeaths();
});
afterAll(async () => {
  expect(await checkInvariants(em())).toEqual([]);
  await owner.end();
  await house.close();
});

const em = () => house.test.orm.em.fork();

/** Makes the connection end at the write at which the sequence `deaths` reaches 0. */
async function addDeaths(): Promise<void> {
  await owner.query(
    `create sequence deaths increment -1 minvalue -${NEVER} maxvalue ${NEVER} start ${NEVER}`,
  );
  await owner.query(`create function die() returns trigger language plpgsql security definer as $$ begin
    if nextval('deaths') = 0 then perform pg_terminate_backend(pg_backend_pid()); end if;
    return null; end $$`);
  for (const table of TABLES)
    await owner.query(
      `create trigger die after insert or update on ${table} for each row execute function die()`,
    );
}

/** The end of a connection as its next user sees it. */
const CUT = /terminating connection|Connection terminated|not queryable/;

/**
 * Runs the work, and ends its connection after this number of writes. Returns whether a connection ended:
 * this one, or the one before, whose end is noticed only when it is used again.
 */
async function diesAfter(writes: number, work: () => Promise<unknown>): Promise<boolean> {
  await owner.query(`select setval('deaths', ${writes})`);
  let isCut = false;
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Error) || !CUT.test(error.message)) throw error;
    isCut = true;
  }
  const { rows } = await owner.query<{ left: string }>('select last_value as left from deaths');
  await owner.query(`select setval('deaths', ${NEVER})`);
  return isCut || Number(rows[0]?.left) <= 0;
}

type Comparison = (typeof COMPARISONS)[number];

/** Makes the comparison of this top-up and of the balance due. */
async function makeDue(topUpId: string): Promise<void> {
  await owner.query('update top_up set check_at = clock_timestamp() where id = $1', [topUpId]);
  await owner.query('update payment_settings set balance_checked_to = null');
}

/** Compares the top-ups that are due, or the balance of the processor. */
function compare(what: Comparison): Promise<void> {
  const parts = { em, settings: house.test.settings, now: new Date(Date.now() + 1_000) };
  return what === 'top-ups' ? runPayments(parts) : comparePayments(parts);
}

/** Lives the life at the processor. Returns its events, which are not sent, and the top-up. */
async function live({ disputed, end, refunded }: Life) {
  const { processor } = house;
  processor.things.forEach(({ object }, id) => {
    if (object === 'event' || object === 'balance_transaction') processor.things.delete(id);
  });
  const { topUp, session } = await (await house.customer()).open('25');
  const payment = processor.pay(session.id);
  const refund = (when: Refunded): void => {
    if (refunded === when) processor.refund(payment.id, REFUND_CENTS);
  };
  refund('before');
  const dispute = processor.dispute(payment.id, disputed);
  refund('between');
  if (end !== 'open') processor.decide(dispute.id, end);
  refund('after');
  const events = [...processor.things.values()].filter(({ object }) => object === 'event');
  return { topUpId: topUp.id, events };
}

/** Cents that the processor keeps of the payment. */
function keptOf({ disputed, end, refunded }: Life): number {
  return PAID_CENTS - (end === 'won' ? 0 : disputed) - (refunded === 'never' ? 0 : REFUND_CENTS);
}

/** State of the top-up, and cents of it in the ledger. */
async function bookedOf(topUpId: string): Promise<{ state: string; cents: number }> {
  const { state, sum } = await queryRow<{ state: string; sum: string }>(
    em(),
    sql`select state, (select coalesce(-sum(amount), 0)::text from ledger_entry e
      join ledger_transaction t on t.id = e.transaction_id
      where e.account_id = 'funding' and starts_with(t.reference, ${`topup:${topUpId}:`})) as sum
    from top_up where id = ${topUpId}`,
  );
  return { state, cents: Number(sum) / MICROS_PER_CENT };
}

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const ranks = new Map(items.map((item) => [item, random.next()]));
  return items.toSorted((left, right) => (ranks.get(left) ?? 0) - (ranks.get(right) ?? 0));
}

it.each(
  LIVES.flatMap((life) => [
    { ...life, by: 'top-ups' as const },
    { ...life, by: 'balance' as const },
  ]),
)(
  'one comparison of $by books a dispute of $disputed cents that is $end, refunded $refunded',
  async ({ by, ...life }) => {
    const random = randomOf(PROOF_SEED).fork(JSON.stringify({ by, life }));
    const { topUpId, events } = await live(life);
    const known = shuffled(events, random).slice(0, random.between(0, events.length - 1));
    const comparedAt = random.between(0, known.length);
    for (const [at, event] of known.entries()) {
      if (at === comparedAt) {
        await makeDue(topUpId);
        await compare('top-ups');
      }
      expect((await house.processor.send(house.test.url, event)).status).toBe(200);
    }
    let writes = 0;
    do {
      writes += 1;
      if (writes > WRITES_MAX) throw new Error('The comparison does not end.');
      await makeDue(topUpId);
    } while (await diesAfter(writes, () => compare(by)));
    expect(writes).toBeGreaterThan(1);
    const state = life.end === 'won' ? expect.stringMatching(/CREDITED|PARTIALLY_REFUNDED/) : 'DISPUTED';
    expect(await bookedOf(topUpId)).toEqual({ state, cents: keptOf(life) });
    for (const event of events) await house.processor.send(house.test.url, event);
    expect(await bookedOf(topUpId)).toEqual({ state, cents: keptOf(life) });
  },
  TEST_MS,
);
