/** The preload links and the first views in the console's HTML. */
import { describe, expect, it } from 'vitest';
import { type ConsolePage, htmlOf } from './console-pages.ts';

const HTML = '<html lang="en"><head><title>Gateway</title></head><div id="root"></div></html>';
const FIRST_VIEWS = {
  en: { title: 'Keys & <more> $&', markup: '<h1>Keys $&</h1>' },
  'zh-CN': { title: '密钥', markup: '<h1>密钥</h1>' },
};
const PAGES: ConsolePage[] = ['/', '/keys', '/usage', '/pricing/$name'].map((path) => ({
  path,
  files: [`page${path.replaceAll(/\W/g, '-')}.js`],
  words: { en: ['en.js'], 'zh-CN': ['zh.js'] },
  ...(path === '/keys' && { firstViews: FIRST_VIEWS }),
  ...(path === '/usage' && { sessionViews: FIRST_VIEWS }),
}));

/** The files that the HTML preloads for this path. */
function preloaded(pathname: string, acceptLanguage = 'en'): string[] {
  const html = htmlOf(HTML, PAGES, { url: pathname, acceptLanguage, cookie: '' });
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
    expect(htmlOf(HTML, PAGES, { url: pathname, acceptLanguage: 'en', cookie: '' })).toBe(HTML);
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

  it.each([
    ['en', '<html lang="en">', '<title>Keys &amp; &lt;more> $&amp;</title>', '<h1>Keys $&</h1>'],
    ['zh-CN,en', '<html lang="zh-CN">', '<title>密钥</title>', '<h1>密钥</h1>'],
  ])('has the title and the first view for a visitor with the languages "%s"', (...row) => {
    const [acceptLanguage, head, title, markup] = row;
    const html = htmlOf(HTML, PAGES, { url: '/keys', acceptLanguage, cookie: 'browser=1; device=2' });
    expect(html).toContain(head);
    expect(html).toContain(title);
    expect(html).toContain(`<div id="root">${markup}</div>`);
  });

  it.each(['session=1', 'browser=1; __Host-session=1'])(
    'has the first view of a page for accounts with the cookies "%s"',
    (cookie) => {
      const html = htmlOf(HTML, PAGES, { url: '/usage', acceptLanguage: 'zh-CN', cookie });
      expect(html).toContain('<title>密钥</title>');
      expect(html).toContain('<div id="root"><h1>密钥</h1></div>');
    },
  );

  it.each([
    ['/keys', 'session=1'],
    ['/keys', 'browser=1; __Host-session=1'],
    ['/keys?next=%2Fusage', ''],
    ['/pricing/coder', ''],
    ['/usage', ''],
    ['/usage', 'browser=1; device=2; oldsession=3'],
    ['/usage?model=swift', 'session=1'],
  ])('has no first view at %s with the cookies "%s"', (url, cookie) => {
    const html = htmlOf(HTML, PAGES, { url, acceptLanguage: 'zh-CN', cookie });
    expect(html).toContain('<div id="root"></div>');
    expect(html).toContain('<title>Gateway</title>');
  });
});
