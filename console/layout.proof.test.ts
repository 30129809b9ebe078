/**
 * The look of pages, dialogs, drawers and menus in English: a part, or all with `PROOF_CASES=all`; and the
 * checks themselves.
 */
import { describe, expect, test } from 'vitest';
import { sliceOf, TAKES_ALL_CASES } from '../test/seeds.ts';
import { ready } from './test/browser.ts';
import { layoutFaults } from './test/layout.ts';
import { describeLayout } from './test/layout-rules.ts';
import { PLACES } from './test/places.ts';
import { houseOfTests } from './test/visit.ts';

/** A run takes every n-th place. */
const EVERY = 4;

describeLayout({ language: 'en', places: sliceOf(PLACES, EVERY), everyLook: TAKES_ALL_CASES });

const house = houseOfTests();

describe.skipIf(!ready)('the checks of a layout', () => {
  test('name words that are cut off, outside or over others, and what scrolls sideways', async () => {
    await house.visit('/help', async (page) => {
      expect(await layoutFaults(page)).toEqual([]);
      await page.evaluate(() => {
        const part = (words: string, style: Partial<CSSStyleDeclaration>): void => {
          const element = Object.assign(document.createElement('p'), { textContent: words });
          Object.assign(element.style, {
            position: 'absolute',
            whiteSpace: 'nowrap',
            zIndex: '99',
            ...style,
          });
          document.body.append(element);
        };
        part('these words are cut', { width: '40px', overflow: 'hidden', top: '0', left: '0' });
        part('an ellipsis is allowed', {
          width: '40px',
          overflow: 'hidden',
          textOverflow: 'ellipsis',
          top: '40px',
        });
        const outer = document.createElement('div');
        outer.innerHTML = '<p>below</p><p>above</p><p>wide</p>';
        const [below, above, wide] = outer.querySelectorAll('p');
        above?.style.setProperty('margin-top', '-18px');
        wide?.style.setProperty('width', '200vw');
        wide?.style.setProperty('text-align', 'right');
        document.querySelector('main')?.append(outer);
        below?.style.setProperty('margin-top', '40px');
      });
      const faults = await layoutFaults(page);
      expect(faults).toContain('cut off: these words are cut');
      expect(faults).toContain('"below" and "above" overlap');
      expect(faults).toContain('outside of the window: wide');
      expect(faults).toContain('scrolls sideways: html');
      expect(faults.filter((fault) => !fault.startsWith('scrolls sideways: '))).toHaveLength(3);
    });
  });
});
