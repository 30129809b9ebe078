/**
 * Adds preload links to the console's HTML, so that the browser fetches all scripts of the requested page
 * together with the entry script instead of one after another. The list of scripts comes from the build.
 */

/** One page of the console, as the build lists it in `pages.json`. */
export interface ConsolePage {
  /** Path pattern of the page, with a leading slash. A segment that starts with `$` matches any value. */
  path: string;
  /** The page's own scripts, without those that all pages share. Paths from the root, without a slash. */
  files: readonly string[];
  /** The scripts that hold the page's texts, by language. */
  words: Readonly<Record<string, readonly string[]>>;
}

/** Maximum number of languages read from an Accept-Language header; browsers send fewer. */
const LANGUAGES_READ_MAX = 20;

/**
 * Returns the HTML with preload links for the scripts of the requested page, and for its texts in the first
 * available language of the browser. Returns the HTML unchanged for an unknown path.
 */
export function withPreloads(html: string, pages: readonly ConsolePage[], request: PageRequest): string {
  const page = pages.find(({ path }) => isAt(path, request.pathname));
  if (!page) return html;
  const words = page.words[languageOf(Object.keys(page.words), request.acceptLanguage)] ?? [];
  const links = [...page.files, ...words].map(
    (file) => `<link rel="modulepreload" crossorigin href="/${file}">`,
  );
  return html.replace('</head>', `${links.join('')}</head>`);
}

interface PageRequest {
  pathname: string;
  /** The Accept-Language header, for example "zh-CN,zh;q=0.9,en;q=0.8". */
  acceptLanguage: string;
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
