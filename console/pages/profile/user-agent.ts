/** What a browser says of itself, as people call it. */

const BROWSER = /(Edg|OPR|Firefox|Chrome|Safari)[\w/]*/;
const SYSTEM = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/;

/** "Chrome, Linux" from what a browser says of itself; undefined when it says nothing known. */
export function browserOf(userAgent: string | null): string | undefined {
  const browser = BROWSER.exec(userAgent ?? '')?.[1];
  const system = SYSTEM.exec(userAgent ?? '')?.[1];
  if (browser === undefined) return system;
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser] ?? browser;
  return system === undefined ? name : `${name}, ${system.replace(' OS X', '')}`;
}
