/** Markup and scripts in every text of every page, menu and dialog run nothing. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { asAddress, asMarkup, attacked, findings, watchPolicy } from './test/attacks.ts';
import { ADMIN_PAGES, OWN_PAGES, PUBLIC_PAGES, ready } from './test/browser.ts';
import { houseOfTests } from './test/visit.ts';

const house = houseOfTests(watchPolicy);

/** Signed-in pages on which nothing stands that somebody else could have written. */
const WITHOUT_TEXTS = ['/admin/groups', '/admin/payments/corrections'];
/** Controls that open a menu or a dialog, and how many of them are tried on a page. */
const OPENERS = 'button[aria-haspopup], main table button';
const OPENERS_MAX = 8;

describe.skipIf(!ready)('a page', () => {
  beforeEach(() => {
    vi.setConfig({ testTimeout: 180_000 });
  });

  test.each([
    ['markup', asMarkup],
    ['an address that is a script', asAddress],
  ])('runs nothing if every text of the service is %s', async (_name, rewrite) => {
    const wrong: string[] = [];
    const silent: string[] = [];
    const signedIn = [...OWN_PAGES, ...ADMIN_PAGES];
    for (const where of [...signedIn, ...PUBLIC_PAGES]) {
      const { found, isShown } = await attacked(house, where, rewrite);
      wrong.push(...found);
      if (signedIn.includes(where) && !isShown) silent.push(where);
    }
    expect(wrong).toEqual([]);
    expect(silent).toEqual(WITHOUT_TEXTS);
  });

  test.each(['/keys', '/playground?chat=cnv_1', '/admin/users', '/admin/models', '/pools', '/usage'])(
    '%s runs nothing in its menus and dialogs if every text of the service is markup',
    async (where) => {
      const { page } = house.tab;
      await attacked(house, where, asMarkup);
      const count = Math.min(OPENERS_MAX, await page.locator(OPENERS).count());
      const wrong: string[] = [];
      for (let at = 0; at < count; at += 1) {
        const opener = page.locator(OPENERS).nth(at);
        await opener.click({ timeout: 2_000 }).catch(() => undefined);
        await house.tab.settled();
        wrong.push(...(await page.evaluate(findings)));
        await attacked(house, where, asMarkup);
      }
      expect(count).toBeGreaterThan(0);
      expect(wrong).toEqual([]);
    },
  );
});
