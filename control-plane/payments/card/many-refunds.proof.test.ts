/** Test of a payment with more refunds and disputes than the processor names in one answer. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPayments } from '../../../test/control/payments.ts';
import type { PaymentHouse } from '../../../test/control/payments.ts';
import { query, sql } from '../../database/sql.ts';
import { runPayments } from '../payment.jobs.ts';

/** More than the hundred of one answer. */
const MANY = 103;
const TEST_MS = 60_000;

let house: PaymentHouse;
beforeAll(async () => {
  house = await openPayments();
});
afterAll(() => house.close());

const em = () => house.test.orm.em.fork();
const run = () => runPayments({ em, settings: house.test.settings, now: new Date(Date.now() + 60_000) });

it(
  'compares all refunds and disputes of a payment',
  async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    for (let at = 0; at < MANY; at += 1) house.processor.refund(payment.id, 1);
    await run();
    expect(await customer.topUp(topUp.id)).toMatchObject({ state: 'PARTIALLY_REFUNDED', refunded: '1.03' });
    for (let at = 0; at < MANY; at += 1) house.processor.dispute(payment.id, 2);
    await query(em(), sql`update top_up set check_at = now() where id = ${topUp.id}`);
    await run();
    expect((await customer.wallet()).cash).toBe('21.91');
  },
  TEST_MS,
);
