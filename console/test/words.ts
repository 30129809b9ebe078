/** Finds words of the console that cannot be translated, and words that have no room. */
import type { Page } from 'playwright-core';

/** Names that are the same in every language, keys of a keyboard, and currencies. */
const SAME_EVERYWHERE = new Set([
  'Gateway',
  'English',
  'Esc',
  'Ctrl',
  'USD',
  'USDC',
  'IP',
  'ID',
  'API',
  'UTC',
]);
/** Dates are written by the browser, which knows no made-up language. */
const DATE_WORD =
  /^(ago|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*$/i;
const WORD = /[A-Za-z]{3,}/g;
const ACCENT = /[áéíóúñç~]/;

/** Visible texts that come neither from the artificial language nor from an answer of the service. */
export async function untranslated(page: Page, answers: string): Promise<string[]> {
  const texts = await page.evaluate(visibleTexts);
  const known = answers.toLowerCase().replaceAll('\\"', '"').replaceAll('\\n', ' ');
  const isForeign = (word: string) =>
    !SAME_EVERYWHERE.has(word) && !DATE_WORD.test(word) && !known.includes(word.toLowerCase());
  return texts.filter((text) => !ACCENT.test(text) && (text.match(WORD) ?? []).some(isForeign));
}

function visibleTexts(): string[] {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = new Set<string>();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const holder = node.parentElement;
    // Code is code in every language, and some texts say that they are in another one.
    const isOther = holder?.closest('code, pre, kbd, script, style, body [lang]');
    if (!holder || isOther || !holder.checkVisibility()) continue;
    const text = (node.textContent ?? '').trim();
    if (text !== '') texts.add(text);
  }
  return [...texts];
}

/** Controls and headings whose words are cut off although nothing says that they may be. */
export function clippedWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const places = document.querySelectorAll<HTMLElement>(
      'button, a, label, h1, h2, h3, th, legend, [role=tab]',
    );
    return (
      [...places]
        // An element of one pixel is only for screen readers.
        .filter((place) => place.checkVisibility() && place.clientWidth > 1 && !place.closest('.truncate'))
        .filter((place) => place.querySelector('.truncate') === null)
        .filter((place) => {
          const { overflowX } = getComputedStyle(place);
          return overflowX !== 'visible' && place.scrollWidth > place.clientWidth + 1;
        })
        .map((place) => (place.textContent ?? '').trim())
    );
  });
}
