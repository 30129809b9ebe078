/** Markup in texts of signed-in pages runs nothing. `attacks.proof.test.ts` tries all pages and dialogs. */
import { describe, expect, test } from 'vitest';
import { asMarkup, attacked, findings, watchPolicy } from './test/attacks.ts';
import { OWN_PAGES, ready } from './test/browser.ts';
import { houseOfTests } from './test/visit.ts';

const house = houseOfTests(watchPolicy);

describe.skipIf(!ready)('a page', () => {
  test('is reported by the checks of the test if an attack works on it', async () => {
    const { page } = house.tab;
    await page.goto(`${house.stage.fake.url}/help`);
    await page.evaluate(() => {
      window.__xss = 7;
      document.body.insertAdjacentHTML(
        'beforeend',
        '<svg onload="__xss=1"><a href="JavaScript:1">x</a></svg>',
      );
    });
    await expect
      .poll(() => page.evaluate(findings))
      .toEqual([
        expect.stringContaining('violates script-src-attr'),
        'ran attack 7',
        'has <svg onload="__xss=1">',
        'has <a href="JavaScript:1">',
      ]);
  });

  test('runs nothing for a signed-in user if every text of the service is markup', async () => {
    const wrong: string[] = [];
    const silent: string[] = [];
    for (const where of OWN_PAGES) {
      const { found, isShown } = await attacked(house, where, asMarkup);
      wrong.push(...found);
      if (!isShown) silent.push(where);
    }
    expect(wrong).toEqual([]);
    expect(silent).toEqual([]);
  });
});
