/** The documents: files and tests that they name exist, glossary and changelog are in order. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, readSources } from './tidy/sources.ts';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const paths = [...readSources().map(({ path }) => path), 'vitest.config.ts'];
const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

describe('a document', () => {
  it.each(DOCUMENTS)('%s names only source files that exist', (document) => {
    const named = [...read(document).matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !paths.some((path) => `/${path}`.endsWith(`/${name}`)))).toEqual([]);
  });

  it.each(DOCUMENTS)('%s links only to files that exist', (document) => {
    const links = [...read(document).matchAll(/\]\((?!https?:|mailto:|#)([^)#]+)/g)].map(([, to = '']) => to);
    expect(links.filter((to) => !existsSync(join(ROOT, dirname(document), to)))).toEqual([]);
  });
});

describe('the table of tested attacks', () => {
  it('names tests that exist', () => {
    const rows = [...read('SECURITY.md').matchAll(/^\|[^|]*\| (`[^|]+\.test\.ts`): ([^|]+) \|$/gm)];
    const faults = rows.flatMap(([, files = '', names = '']) => {
      const tests = files.split(', ').map((file) => read(file.slice(1, -1)));
      return names.split('; ').filter((name) => !tests.some((text) => text.includes(`'${name}`)));
    });
    expect(rows.length).toBeGreaterThan(20);
    expect(faults).toEqual([]);
  });
});

describe('the changelog', () => {
  it('has no blank line inside a section, and no entry twice', () => {
    const changelog = read('CHANGELOG.md');
    expect([...changelog.matchAll(/^### .*\n\n.*|\n\n- .*/gm)].map(([text]) => text)).toEqual([]);
    const entries = changelog.split('\n').filter((line) => line.startsWith('- '));
    expect(entries.filter((line, at) => entries.indexOf(line) !== at)).toEqual([]);
  });
});

describe('the glossary', () => {
  it('lists each word once, in alphabetical order', () => {
    const [, glossary = ''] = /## Glossary\n([^]*?)\n## /.exec(read('CONTRIBUTING.md')) ?? [];
    const words = [...glossary.matchAll(/^\| ([a-z][^|]*?) *\|/gm)].map(([, word = '']) => word);
    expect(words.length).toBeGreaterThan(1);
    expect(words.slice(1)).toEqual([...new Set(words.slice(1))].toSorted());
  });
});

describe('the index of decisions', () => {
  it('names every decision once', () => {
    const index = read('docs/decisions/README.md');
    const files = readdirSync(join(ROOT, 'docs/decisions')).filter((name) => name !== 'README.md');
    expect(files.filter((name) => index.split(`](${name})`).length !== 2)).toEqual([]);
  });
});
