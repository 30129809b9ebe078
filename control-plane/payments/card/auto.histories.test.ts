/** Random histories of automatic top-ups: the processor charges what is credited, and each attempt once. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSavers } from '../../../test/control/savers.ts';
import type { Saver, SaverHouse } from '../../../test/control/savers.ts';
import { query, sql } from '../../database/sql.ts';
import type { TopUpRow } from '../topup.entity.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let house: SaverHouse;
beforeAll(async () => {
  house = await openSavers();
});
afterAll(() => house.close());

const em = () => house.money.em();

describe('any history of lost answers, changed cards and late calls', () => {
  const MOODS = ['ok', 'lost', 'down', 'declined'] as const;
  const STEPS = ['decide', 'repeat', 'late', 'replace', 'move', 'remove', 'off', 'on', ...MOODS] as const;

  it('charges each attempt at most once, and credits exactly what was charged', async () => {
    const histories = fc.array(fc.constantFrom(...STEPS), { minLength: 3, maxLength: 14 });
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        house.fake.mood = 'ok';
        const owner = await house.saver();
        await query(
          em(),
          sql`update auto_top_up set threshold = 90000000, monthly_cap = 900000000
          where wallet_id = ${owner.walletId}`,
        );
        let hours = 0;
        for (const step of ['decide', ...history]) await act(owner, step, (hours += 2));
        house.fake.mood = 'ok';
        for (const row of await owner.attempts()) await settle(row);
        const attempts = await owner.attempts();
        for (const row of attempts) await house.arriveLate(row, 'charge');
        const charged = owner
          .payments()
          .filter(({ status }) => status === 'succeeded')
          .map(({ metadata }) => idIn(metadata));
        const credited = attempts.filter((row) => row.paid !== null).map(({ id }) => id);
        expect(charged.toSorted()).toEqual(credited.toSorted());
        expect(await owner.cash()).toBe(10 * credited.length);
      }),
      { numRuns: 40, seed: 20_261_125 },
    );
  }, 60_000);

  const idIn = (metadata: unknown): string => (metadata as { topup_id: string }).topup_id;

  /** Looks at an open attempt until it is decided. */
  async function settle(row: TopUpRow): Promise<void> {
    if (isOpen(row)) await house.repeat(row, MINUTE_MS);
  }

  const isOpen = ({ stage, paid: amount }: TopUpRow): boolean => stage === 'CREATED' && amount === null;

  async function act(owner: Saver, step: string, hours: number): Promise<void> {
    const { walletId, customerId } = owner;
    const open = (await owner.attempts()).find(isOpen);
    if (step === 'decide') await owner.decide(hours * HOUR_MS);
    else if (step === 'repeat' && open) await house.repeat(open, MINUTE_MS).catch(() => undefined);
    else if (step === 'late' && open) await house.arriveLate(open, 'charge');
    else if (step === 'replace') await owner.replaceCard();
    else if (step === 'move') await owner.replaceCard(`${customerId}_${hours}`);
    else if (step === 'remove') await owner.removeCard();
    else if (step === 'off' || step === 'on')
      await query(em(), sql`update auto_top_up set enabled = ${step === 'on'} where wallet_id = ${walletId}`);
    else house.fake.mood = MOODS.find((mood) => mood === step) ?? house.fake.mood;
  }
});
