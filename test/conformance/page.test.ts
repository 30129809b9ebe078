/** The page about conformance is made from its results. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PAGE_FILE, readResults } from './files.ts';
import { FORMAT_NAMES, pageOf } from './page.ts';

describe('docs/conformance.md', () => {
  it('is what `npm run conformance` writes from the results', () => {
    expect(readFileSync(PAGE_FILE, 'utf8')).toBe(pageOf(readResults()));
  });

  it('has a result for all sixteen pairs of formats', () => {
    const formats = Object.keys(FORMAT_NAMES);
    const pairs = formats.flatMap((client) => formats.map((upstream) => `${client} ${upstream}`));
    expect(readResults().pairs.map(({ client, upstream }) => `${client} ${upstream}`)).toEqual(pairs);
  });

  it('names the clients and upstreams by the names of their formats', () => {
    const page = pageOf(readResults());
    for (const name of Object.values(FORMAT_NAMES)) expect(page).toContain(`| ${name} |`);
    for (const { client } of readResults().clients) expect(page).toContain(`| ${client} |`);
  });
});
