/** The preload links in the console's HTML. */
import { describe, expect, it } from 'vitest';
import { type ConsolePage, withPreloads } from './console-pages.ts';

const HTML = '<html><head></head></html>';
const PAGES: ConsolePage[] = ['/', '/keys', '/pricing/$name'].map((path) => ({
  path,
  files: [`page${path.replaceAll(/\W/g, '-')}.js`],
  words: { en: ['en.js'], 'zh-CN': ['zh.js'] },
}));

/** The files that the HTML preloads for this path. */
function preloaded(pathname: string, acceptLanguage = 'en'): string[] {
  const html = withPreloads(HTML, PAGES, { pathname, acceptLanguage });
  return [...html.matchAll(/href="\/([^"]+)"/g)].map(([, file = '']) => file);
}

describe('the HTML of the console', () => {
  it.each([
    ['/', 'page-.js'],
    ['/keys', 'page-keys.js'],
    ['/keys/', 'page-keys.js'],
    ['/pricing/coder-max', 'page-pricing--name.js'],
  ])('preloads the scripts of the page at %s', (pathname, file) => {
    expect(preloaded(pathname)).toEqual([file, 'en.js']);
  });

  it.each(['/unknown', '/keys/one', '/pricing', '//'])('is unchanged for the unknown path %s', (pathname) => {
    expect(withPreloads(HTML, PAGES, { pathname, acceptLanguage: 'en' })).toBe(HTML);
  });

  it.each([
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh.js'],
    ['zh-TW', 'zh.js'],
    ['fr,en-GB', 'en.js'],
    ['fr', 'en.js'],
    ['', 'en.js'],
  ])('preloads the texts for a browser with the languages "%s"', (acceptLanguage, file) => {
    expect(preloaded('/keys', acceptLanguage)).toContain(file);
  });
});
