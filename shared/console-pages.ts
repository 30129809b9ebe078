/**
 * Completes the console's HTML for one page. Preload links let the browser fetch all scripts of the page
 * together with the entry script instead of one after another. Some pages have their first view in the HTML,
 * which is shown before any script arrives. Both come from the build.
 */

/** One page of the console, as the build lists it in `pages.json`. */
export interface ConsolePage {
  /** Path pattern of the page, with a leading slash. A segment that starts with `$` matches any value. */
  path: string;
  /** The page's own scripts, without those that all pages share. Paths from the root, without a slash. */
  files: readonly string[];
  /** The scripts that hold the page's texts, by language. */
  words: Readonly<Record<string, readonly string[]>>;
  /** The page's first view for visitors, by language. Most pages have none. */
  firstViews?: Readonly<Record<string, FirstView>>;
  /** The page's first view for browsers with a session, by language: its frame and head, without data. */
  sessionViews?: Readonly<Record<string, FirstView>>;
}

/** Title and HTML that a page shows before any script arrives. */
export interface FirstView {
  /** Text of the browser tab. */
  title: string;
  /** HTML of the page. */
  markup: string;
}

/** Maximum number of languages read from an Accept-Language header; browsers send fewer. */
const LANGUAGES_READ_MAX = 20;

/**
 * Returns the HTML with preload links for the scripts of the requested page, and for its texts in the first
 * available language of the browser. Some pages have a first view in that language for visitors, others for
 * browsers with a session. Returns the HTML unchanged for an unknown path.
 */
export function htmlOf(html: string, pages: readonly ConsolePage[], request: PageRequest): string {
  const [pathname = '', search] = request.url.split('?', 2);
  const page = pages.find(({ path }) => isAt(path, pathname));
  if (!page) return html;
  const language = languageOf(Object.keys(page.words), request.acceptLanguage);
  const links = [...page.files, ...(page.words[language] ?? [])].map(
    (file) => `<link rel="modulepreload" crossorigin href="/${file}">`,
  );
  const linked = html.replace('</head>', `${links.join('')}</head>`);
  const views = SESSION.test(request.cookie) ? page.sessionViews : page.firstViews;
  // Parameters may change the view.
  const view = search === undefined ? views?.[language] : undefined;
  if (view === undefined) return linked;
  // As functions, because texts may contain "$".
  return linked
    .replace(TITLE, () => `<title>${escaped(view.title)}</title>`)
    .replace(EMPTY_ROOT, () => `<div id="root">${view.markup}</div>`)
    .replace('<html lang="en"', () => `<html lang="${language}"`);
}

const TITLE = /<title>[^<]*<\/title>/;
const EMPTY_ROOT = '<div id="root"></div>';
/** The cookie of a session. `control-plane/request/identify.ts` sets it. */
const SESSION = /(?:^|; ?)(?:__Host-)?session=/;

interface PageRequest {
  /** The path with its parameters. */
  url: string;
  /** The Accept-Language header, for example "zh-CN,zh;q=0.9,en;q=0.8". */
  acceptLanguage: string;
  /** The Cookie header; empty if there is none. */
  cookie: string;
}

/** The text as HTML. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function isAt(path: string, pathname: string): boolean {
  const wanted = segmentsOf(path);
  const given = segmentsOf(pathname);
  const fits = (segment: string, index: number): boolean =>
    segment.startsWith('$') || segment === given[index];
  return wanted.length === given.length && wanted.every(fits);
}

/** The segments of a path; a slash at the end makes no difference. */
function segmentsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/');
}

/** The first available language in the browser's order of preference; a language matches all its regions. */
function languageOf(languages: readonly string[], acceptLanguage: string): string {
  const primary = (language: string): string => language.trim().split(/[-;]/)[0]?.toLowerCase() ?? '';
  const asked = acceptLanguage.split(',', LANGUAGES_READ_MAX).map(primary);
  const known = asked.find((name) => languages.some((language) => primary(language) === name));
  return languages.find((language) => primary(language) === known) ?? languages[0] ?? '';
}
