/**
 * What the console's page of an address needs at once, as its build wrote it down: named in the HTML, it is
 * asked for together with the first script and not one after another.
 */

/** A page of the console, in `pages.json` of the build. */
export interface ConsolePage {
  /** Its address; a part that begins with `$` stands for anything. */
  path: string;
  /** Its scripts, those that all pages share left out; paths from the root. */
  files: readonly string[];
  /** The scripts that hold its words, by language. */
  words: Readonly<Record<string, readonly string[]>>;
}

/** Languages asked for beyond these are no browser's. */
const LANGUAGES_READ_MAX = 20;

/** The page's HTML with what its address needs at once, in the first language of the reader that there is. */
export function withNeeded(html: string, pages: readonly ConsolePage[], request: PageRequest): string {
  const page = pages.find(({ path }) => isAt(path, request.pathname));
  if (!page) return html;
  const words = page.words[languageOf(Object.keys(page.words), request.acceptLanguage)] ?? [];
  const links = [...page.files, ...words].map(
    (file) => `<link rel="modulepreload" crossorigin href="/${file}">`,
  );
  return html.replace('</head>', `${links.join('')}</head>`);
}

export interface PageRequest {
  pathname: string;
  /** The header, "zh-CN,zh;q=0.9,en;q=0.8" for example. */
  acceptLanguage: string;
}

function isAt(path: string, pathname: string): boolean {
  const wanted = path.split('/');
  const parts = pathname.replace(/\/$/, '').split('/');
  const fits = (part: string, index: number): boolean => part.startsWith('$') || part === parts[index];
  return wanted.length === parts.length && wanted.every(fits);
}

/** Browsers name languages in the order of preference; a language stands for all its regions. */
function languageOf(languages: readonly string[], acceptLanguage: string): string {
  const primary = (language: string): string => language.trim().split(/[-;]/)[0]?.toLowerCase() ?? '';
  const asked = acceptLanguage.split(',', LANGUAGES_READ_MAX).map(primary);
  const known = asked.find((name) => languages.some((language) => primary(language) === name));
  return languages.find((language) => primary(language) === known) ?? languages[0] ?? '';
}
