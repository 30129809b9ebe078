/** Style sheets: what they may not cost, and that scripts choose the layout at the same width. */
/// <reference lib="dom" />
import { expect, test } from 'vitest';
import { PHONE } from './components/store.ts';
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

test.skipIf(!ready)('styles and scripts change to the phone layout at the same width', async () => {
  await house.visit('/keys', async (page) => {
    const conditions = await page.evaluate(() => {
      const isForPhones = (rule: CSSRule) =>
        rule instanceof CSSStyleRule && /^\.(?:max-sm|one-row)/.test(rule.selectorText);
      const conditionsIn = (rules: CSSRuleList): string[] =>
        [...rules].flatMap((rule) => [
          ...(rule instanceof CSSMediaRule && [...rule.cssRules].some(isForPhones)
            ? [rule.media.mediaText]
            : []),
          ...(rule instanceof CSSGroupingRule ? conditionsIn(rule.cssRules) : []),
        ]);
      return [...document.styleSheets].flatMap(({ cssRules }) => conditionsIn(cssRules));
    });
    // The build writes "not wider" for "narrower". Some of these styles are for touch screens only.
    const widths = conditions
      .filter((condition) => condition.includes('width'))
      .map((condition) => condition.replace('not all and (width >=', '(width <'));
    expect([...new Set(widths)]).toEqual([PHONE]);
  });
});
