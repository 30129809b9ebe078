/** The scripts of a page of the console: which its HTML names, which were loaded, and their size. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import type { Stage } from './browser.ts';

/** The paths of the scripts that the HTML of a page names. */
export async function namedScripts({ fake }: Stage, where: string, language = 'en'): Promise<string[]> {
  const [address = ''] = where.split('#');
  const answer = await fetch(fake.url + address, { headers: { 'accept-language': language } });
  return [...(await answer.text()).matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, file = '']) => file);
}

/** The paths of the scripts that a page has loaded so far. */
export async function loadedScripts(page: Page): Promise<string[]> {
  const names = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
  );
  return names.filter((name) => name.endsWith('.js'));
}

/**
 * The live part of a page, and the rules of a language that colour its code, load some time after the page.
 * On a slow machine they may be there already.
 */
export const LATE = /\/(?:live|typescript)-[\w-]+\.js$/;

const sizes = new Map<string, number>();

/** The size of scripts in bytes after gzip, without those that load late. */
export function scriptBytes(scripts: readonly string[], folder: string): number {
  const sizeOf = (name: string): number => {
    const size = sizes.get(name) ?? gzipSync(readFileSync(path.join(folder, name))).length;
    sizes.set(name, size);
    return size;
  };
  return [...new Set(scripts)]
    .filter((name) => !LATE.test(name))
    .reduce((sum, name) => sum + sizeOf(name), 0);
}
