/** The history of the wallet: usage by day, expanded to its entries, in pages. */
import { describe, expect, test } from 'vitest';
import { overflow, ready, violations } from './test/browser.ts';
import { houseOfTests, press } from './test/visit.ts';

const house = houseOfTests();
const { visit } = house;

describe.skipIf(!ready)('a day of usage in the wallet', () => {
  test.each([1440, 1024, 390, 320])('shows its entries when it is expanded at %i px', async (width) => {
    await visit('/wallet', async (page) => {
      await page.setViewportSize({ width, height: 900 });
      const day = page.getByRole('button', { name: /^\d+ entr(y|ies), .*, Cash$/ });
      await press(page, day);
      await expect.poll(() => day.getAttribute('aria-expanded')).toBe('true');
      await page.getByText('147 requests', { exact: true }).waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      await press(page, day);
      await page.getByText('147 requests', { exact: true }).waitFor({ state: 'detached' });
    });
  });

  test('reads its entries in pages in both directions', async () => {
    house.stage.fake.state.money = { usageOfDay: pageOfDay };
    await visit('/wallet', async (page) => {
      await press(page, page.getByRole('button', { name: /^\d+ entr(y|ies), .*, Cash$/ }));
      const pages = page.getByRole('navigation', { name: /^Usage of .*, Cash$/ });
      await page.getByText('Entry 0', { exact: true }).waitFor();
      await press(page, pages.getByRole('button', { name: 'Next' }));
      await page.getByText('Entry 25', { exact: true }).waitFor();
      expect(page.url()).not.toContain('after=');
      await press(page, pages.getByRole('button', { name: 'Previous' }));
      await page.getByText('Entry 0', { exact: true }).waitFor();
      expect(await violations(page)).toEqual([]);
    });
  });
});

interface DayPage {
  first: number;
  after?: string | null;
  before?: string | null;
}

/** A page of 60 entries, whose cursors are their numbers. */
function pageOfDay({ first, after, before }: DayPage) {
  const start = before ? Math.max(0, Number(before) - first) : Number(after ?? -1) + 1;
  const numbers = Array.from({ length: Math.min(first, 60 - start) }, (_, index) => start + index);
  return {
    nodes: numbers.map((number) => ({
      ...{ __typename: 'LedgerEntry', id: `led_day_${number}`, seq: 1_000 - number, kind: 'USAGE' },
      ...{ bucket: 'CASH', amount: '-0.25', balanceAfter: '100', description: `Entry ${number}` },
      ...{ reference: `ref:${number}`, createdAt: new Date().toISOString() },
      subject: { __typename: 'LedgerSubject', topic: 'NOTE', count: null, pool: null, playMoney: false },
    })),
    pageInfo: {
      hasNextPage: start + first < 60,
      hasPreviousPage: start > 0,
      startCursor: String(start),
      endCursor: String(start + numbers.length - 1),
    },
  };
}
