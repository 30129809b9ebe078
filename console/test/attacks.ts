/**
 * Markup in every text that the service sends: names of users, keys, pools, models and upstreams, replies of
 * models, errors of upstreams, items of Personal Intelligence.
 */
import { ADMIN_PAGES, PUBLIC_PAGES } from './browser.ts';
import type { House } from './visit.ts';

/** Attacks by a text. A script that runs sets a number of its own, so that the test can name the attack. */
export const MARKUP = [
  `"'><img src=x onerror=__xss=1><svg/onload=__xss=2><script>__xss=3</script>`,
  '<iframe srcdoc="<script>parent.__xss=4</script>"></iframe><base href="https://elsewhere.example/">',
  '[link](javascript:__xss=5) [data](data:text/html,<script>__xss=6</script>) <javascript:__xss=7>',
  '<a href="javascript:__xss=8">raw</a> [reference][x] ![picture](javascript:__xss=9)',
  '![vector](data:image/svg+xml,<svg%20xmlns="http://www.w3.org/2000/svg"%20onload="parent.__xss=10"/>)',
  '[quote](https://elsewhere.example/"onmouseover="__xss=11)',
  '<div style="background:url(//elsewhere.example)">',
  '```mermaid\ngraph TD; A["<img src=x onerror=__xss=12>"]; click A "javascript:__xss=13"\n```',
  String.raw`$$\href{javascript:__xss=14}{x}$$ $\htmlData{onclick=__xss=15}{x}$`,
  '<math><mtext><table><mglyph><style><img src=x onerror=__xss=16></style></mglyph></table></mtext></math>',
  '[x]: javascript:__xss=17',
].join('\n\n');
/** Attack by an address, which becomes the target of a link. */
export const ADDRESS = 'javascript:__xss=20//https://elsewhere.example/';
/** Texts that the service itself makes, and that pages read as addresses or codes. */
const OWN_TEXTS = /(url|address|origin|cursor|code|version|secret|suffix|prefix|currency|locale|path)s?$/i;

declare global {
  interface Window {
    /** Set by an attack that worked. */
    __xss?: number;
    /** Directives of the policy that something on the page violated. */
    violated: string[];
  }
}

/** Runs in the page: what an attack reached, and the parts of the document that could run one. */
export function findings(): string[] {
  const found = window.violated.map((violation) => `violates ${violation}`);
  if (window.__xss !== undefined) found.push(`ran attack ${window.__xss}`);
  for (const element of document.querySelectorAll('*')) {
    const name = element.localName;
    if (/^(iframe|object|embed|base|foreignobject|math)$/.test(name)) found.push(`has <${name}>`);
    if (name === 'script' && !(element as HTMLScriptElement).src) found.push('has an inline script');
    for (const { name: key, value } of element.attributes) {
      const isAddress = /^(href|src|srcdoc|action|formaction|xlink:href|data|poster)$/.test(key);
      const leadsAway = /^\s*(javascript|vbscript|data:(?!image\/(png|jpeg|webp)))/i.test(value);
      if (key.startsWith('on') || (isAddress && leadsAway)) found.push(`has <${name} ${key}="${value}">`);
    }
  }
  return found;
}

/** Watches for violations of the policy on every page that the tab opens. */
export async function watchPolicy({ tab }: House): Promise<void> {
  await tab.page.addInitScript(() => {
    window.violated = [];
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
      window.violated.push(`${effectiveDirective} ${blockedURI}`);
    });
  });
}

/** Replaces the texts that others write by markup. */
export const asMarkup = (own: string, field: string): string => (OWN_TEXTS.test(field) ? own : MARKUP);
/** Replaces every text by the address. */
export const asAddress = (): string => ADDRESS;

/** Opens a page with these texts. Returns what an attack reached, and whether a text of it is on the page. */
export async function attacked(
  { stage, tab }: House,
  where: string,
  rewrite: (text: string, field: string) => string,
): Promise<{ found: string[]; isShown: boolean }> {
  const [path = ''] = where.split('?');
  Object.assign(stage.fake.state, {
    rewrite,
    signedIn: !PUBLIC_PAGES.includes(path),
    admin: ADMIN_PAGES.includes(path),
  });
  tab.said.length = 0;
  await tab.page.goto('about:blank');
  await tab.go(where);
  const asked = tab.said.filter((line) => line.startsWith('asked '));
  const found = [...(await tab.page.evaluate(findings)), ...asked].map((line) => `${where} ${line}`);
  const text = await tab.page.evaluate(() => document.body.textContent ?? '');
  return { found, isShown: text.includes('__xss') };
}
