/** Style sheets do not make the browser compute the styles of a whole page after a small change. */
/// <reference lib="dom" />
import { expect, test } from 'vitest';
import { ready } from './test/browser.ts';
import { houseOfTests } from './test/visit.ts';

const house = houseOfTests();

test.skipIf(!ready)('no condition with :has() decides the style of any element below', async () => {
  await house.visit('/keys', async (page) => {
    const selectors = await page.evaluate(() => {
      const selectorsIn = (rules: CSSRuleList): string[] =>
        [...rules].flatMap((rule) => [
          ...(rule instanceof CSSStyleRule ? [rule.selectorText] : []),
          ...(rule instanceof CSSGroupingRule || rule instanceof CSSStyleRule
            ? selectorsIn(rule.cssRules)
            : []),
        ]);
      return [...document.styleSheets].flatMap(({ cssRules }) => selectorsIn(cssRules));
    });
    const conditions = selectors.filter((selector) => selector.includes(':has('));
    expect(conditions.length).toBeGreaterThan(0);
    expect(conditions.filter((selector) => /[\s>+~]\*\s*(?:,|$)/.test(selector))).toEqual([]);
  });
});
