/** Tests of refunds, disputes and payments that are booked at the same moment. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pick } from '../../../test/control/app.ts';
import { newKey, openPayments, REFUND } from '../../../test/control/payments.ts';
import type { PaymentHouse } from '../../../test/control/payments.ts';
import { checkInvariants } from '../../wallet/invariants.ts';
import { runPayments } from '../payment.jobs.ts';

const ROUNDS = 3;

let house: PaymentHouse;
beforeAll(async () => {
  house = await openPayments();
});
afterAll(async () => {
  expect(await checkInvariants(em())).toEqual([]);
  await house.close();
});

const em = () => house.test.orm.em.fork();
const run = () => runPayments({ em, settings: house.test.settings, now: new Date(Date.now() + 700_000) });
const rounds = Array.from({ length: ROUNDS }, (_, round) => round);

describe('news of one payment that arrives at the same moment', () => {
  it.each(rounds)('leaves exactly the due balance in the wallet (round %d)', async () => {
    const customer = await house.customer();
    const { topUp, payment } = await customer.paid('25');
    const { processor, report } = house;
    const theirs = processor.refund(payment.id, 500);
    const [won, lost] = [processor.dispute(payment.id, 700), processor.dispute(payment.id, 300)];
    const input = { topUpId: topUp.id, amount: '4', reason: 'race', idempotencyKey: newKey() };
    const created = [won, lost].map(({ id }) => processor.event('charge.dispute.created', id));
    Object.assign(won, { status: 'won' });
    Object.assign(lost, { status: 'lost' });
    const [refunded] = await Promise.all([
      house.admin.send(REFUND, { input }),
      house.admin.send(REFUND, { input }),
      ...created.map((event) => processor.send(house.test.url, event)),
      report('charge.dispute.closed', won.id),
      report('charge.dispute.closed', lost.id),
      report('refund.created', theirs.id),
      report('refund.updated', theirs.id),
      run(),
    ]);
    await run();
    // Two requests under one key make one refund, unless a dispute had taken the cash before.
    const refused = pick<unknown[]>(refunded, 'adminTopUpRefund', 'userErrors').length;
    const left = 25 - 5 - 3 - (refused === 0 ? 4 : 0);
    expect(await customer.wallet()).toMatchObject({ cash: `${left}.00`, receivable: '0.00' });
    expect((await customer.topUp(topUp.id)).state).toBe('DISPUTED');
  });

  it('credits a payment once although its event, its charge and the comparison report it', async () => {
    const customer = await house.customer();
    const { topUp, session } = await customer.open('25');
    const payment = house.processor.pay(session.id);
    const reports = ['checkout.session.completed', 'checkout.session.async_payment_succeeded'];
    await Promise.all([
      ...reports.map((type) => house.report(type, session.id)),
      house.report('payment_intent.succeeded', payment.id),
      run(),
      run(),
    ]);
    expect(await customer.topUp(topUp.id)).toMatchObject({ state: 'CREDITED', credited: '25.00' });
    expect((await customer.wallet()).cash).toBe('25.00');
  });
});
