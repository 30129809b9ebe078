/**
 * Random lives of a payment: the wallet holds what the processor says last, whatever the order. A run takes
 * 20,000; `PROOF_CASES=all` takes 100,000.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deliveries } from '../../test/control/payment-histories.ts';
import { PROOF_SEED, TAKES_ALL_CASES } from '../../test/seeds.ts';
import { newLife, step } from './topup.rules.ts';

const LIVES = TAKES_ALL_CASES ? 100_000 : 20_000;

it(`after ${LIVES} random lives the wallet has the due balance, with each reference used once`, () => {
  let lives = 0;
  fc.assert(
    fc.property(deliveries, ({ events, due }) => {
      lives += 1;
      let life = newLife('CARD');
      let sum = 0n;
      const names = new Set<string>();
      for (const event of events) {
        const done = step(life, event);
        life = done.life;
        for (const { name, amount } of done.movements) {
          if (names.has(name)) throw new Error(`${name} was posted twice.`);
          names.add(name);
          sum += amount;
        }
      }
      if (sum !== due) throw new Error(`${sum} instead of ${due}`);
    }),
    { numRuns: LIVES, seed: PROOF_SEED },
  );
  expect(lives).toBeGreaterThanOrEqual(LIVES);
}, 300_000);
