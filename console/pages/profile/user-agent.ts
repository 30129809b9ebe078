/** Readable names of browsers. */

const BROWSER = /(Edg|OPR|Firefox|Chrome|Safari)[\w/]*/;
const SYSTEM = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/;

/** A name such as "Chrome, Linux" from a User-Agent header; undefined if it names nothing known. */
export function browserOf(userAgent: string | null): string | undefined {
  const browser = BROWSER.exec(userAgent ?? '')?.[1];
  const system = SYSTEM.exec(userAgent ?? '')?.[1];
  if (browser === undefined) return system;
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser] ?? browser;
  return system === undefined ? name : `${name}, ${system.replace(' OS X', '')}`;
}
