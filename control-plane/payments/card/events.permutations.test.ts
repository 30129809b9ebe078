/** Some orders of a payment's seven events, with connections cut, and random lives in PostgreSQL. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openMoney } from '../../../test/money-fixture.ts';
import type { Money } from '../../../test/money-fixture.ts';
import { addKills, deliver, STEPS } from '../../../test/control/payment-deliveries.ts';
import type { Step } from '../../../test/control/payment-deliveries.ts';
import { permutationsOf } from '../../../test/control/payment-events.ts';
import { deliveries } from '../../../test/control/payment-histories.ts';
import { SYSTEM_ACTOR } from '../../graphql/context.ts';
import { checkInvariants } from '../../wallet/invariants.ts';
import { walletById } from '../../wallet/wallet.service.ts';
import { applyNews, createTopUp } from '../topup.service.ts';

let money: Money;
beforeAll(async () => {
  money = await openMoney();
  await addKills(money.url);
});
afterAll(async () => {
  expect(await checkInvariants(money.em())).toEqual([]);
  await money.close();
});

it('the wallet has the due balance in every 700th order, with connections cut after each step', async () => {
  const orders = permutationsOf([0, 1, 2, 3, 4, 5, 6]).filter((_, at) => at % 700 === 0);
  const reached = new Set<Step>();
  for (const [at, order] of orders.entries()) {
    const { walletId } = await money.wallet({});
    const { faults, killed } = await deliver(money.em, {
      ...{ walletId, order, tag: String(at) },
      killsAt: (place) => STEPS.filter((_, step) => (step + place + at) % 4 === 0),
    });
    expect(faults).toEqual([]);
    for (const step of killed) reached.add(step);
  }
  expect([...reached].toSorted()).toEqual([...STEPS].toSorted());
}, 120_000);

it('after random lives, the wallet has the balance that the last objects state', async () => {
  let tag = 0;
  await fc.assert(
    fc.asyncProperty(deliveries, async ({ events, due }) => {
      tag += 1;
      const { walletId } = await money.wallet({});
      const id = await createTopUp(money.em(), { walletId, method: 'CARD', amount: 1n });
      const ownIds = events.map((event) => ('id' in event ? { ...event, id: `${event.id}_${tag}` } : event));
      for (const event of ownIds) await applyNews(money.em(), id, { events: [event], actor: SYSTEM_ACTOR });
      const wallet = await walletById(money.em(), walletId);
      expect((wallet?.cash ?? 0n) - (wallet?.receivable ?? 0n)).toBe(due);
    }),
    { numRuns: 25, seed: 16 },
  );
});
