/** Tests that the feeds are well-formed whatever administrators write. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atomFeed, jsonFeed, lastChange } from './feed.ts';
import type { Incident } from './incident.service.ts';

const text = fc.string({ unit: 'binary', maxLength: 60 });
const date = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
const incident: fc.Arbitrary<Incident> = fc.record({
  id: fc.nat().map((number) => `inc_${number}`),
  kind: fc.constantFrom('DEGRADATION', 'OUTAGE', 'MAINTENANCE'),
  title: text,
  state: fc.constantFrom('INVESTIGATING', 'RESOLVED'),
  modelNames: fc.array(text, { maxLength: 3 }),
  families: fc.constant([]),
  startsAt: date,
  endsAt: fc.option(date),
  resolvedAt: fc.constant(null),
  updatedAt: date,
  version: fc.constant(1),
  updates: fc.array(
    fc.record({
      id: fc.constant('inu_1'),
      at: date,
      state: fc.constantFrom('INVESTIGATING', 'RESOLVED'),
      message: text,
    }),
    { maxLength: 3 },
  ),
});
const incidents = fc.array(incident, { maxLength: 4 });
const FROM = new Date('2026-01-01');
const ADDRESS = 'https://console.example';

/**
 * Parses the subset of XML 1.0 that the feed uses. Returns the elements as `path: text`. Throws an Error for
 * anything else, as an XML parser has to.
 */
function elementsOf(xml: string): [path: string, text: string][] {
  const rest = xml.replace(/^<\?xml version="1\.0" encoding="utf-8"\?>\n/, '');
  const open: string[] = [];
  const found: [string, string][] = [];
  const token = /<(\/?)([a-z]+)((?: [a-z]+="(?:[^<&"]|&(?:amp|lt|gt|quot|#13);)*")*)(\/?)>|([^<]+)/gy;
  while (token.lastIndex < rest.length) {
    const part = token.exec(rest);
    if (!part) throw new Error('The feed is not well-formed.');
    const [, end, name = '', , empty, characters] = part;
    if (characters !== undefined) found.push([open.join('/'), decoded(characters)]);
    else if (end) {
      if (open.pop() !== name) throw new Error('An element ends at a wrong place.');
    } else if (!empty) open.push(name);
  }
  if (open.length > 0) throw new Error('An element has no end.');
  return found.filter(([, characters]) => characters.trim() !== '');
}

function decoded(characters: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/.test(characters) || !characters.isWellFormed())
    throw new Error('A character is not allowed in XML.');
  return characters.replaceAll(/&([^;]*;?)/g, (_, name: string) => {
    const known = { 'amp;': '&', 'lt;': '<', 'gt;': '>', 'quot;': '"', '#13;': '\r' }[name];
    if (known === undefined) throw new Error(`Unknown reference &${name}`);
    return known;
  });
}

describe('the Atom feed', () => {
  it('is well-formed and has the elements that RFC 4287 requires, whatever the texts are', () => {
    fc.assert(
      fc.property(incidents, (list) => {
        const elements = elementsOf(atomFeed({ incidents: list, from: FROM }, ADDRESS));
        const count = (path: string) => elements.filter(([at]) => at === path).length;
        for (const name of ['id', 'title', 'updated', 'author/name']) expect(count(`feed/${name}`)).toBe(1);
        for (const name of ['id', 'updated', 'published', 'content'])
          expect(count(`feed/entry/${name}`)).toBe(list.length);
        for (const [path, value] of elements)
          if (/(?:updated|published)$/.test(path)) expect(new Date(value).toISOString()).toBe(value);
      }),
    );
  });

  it('keeps the characters of a title', () => {
    const [sample] = fc.sample(incident, 1);
    if (!sample) throw new Error('No sample.');
    const title = 'a < b & "c"';
    const elements = elementsOf(atomFeed({ incidents: [{ ...sample, title }], from: FROM }, ADDRESS));
    expect(elements).toContainEqual(['feed/entry/title', title]);
  });
});

describe('the JSON feed', () => {
  it('has the members that version 1.1 requires, newest change first', () => {
    fc.assert(
      fc.property(incidents, (list) => {
        const source = { incidents: list, from: FROM };
        const feed = JSON.parse(jsonFeed(source, ADDRESS));
        expect(feed).toMatchObject({
          version: 'https://jsonfeed.org/version/1.1',
          title: expect.any(String),
        });
        expect(feed.items).toHaveLength(list.length);
        const changes: string[] = feed.items.map((item: { date_modified: string }) => item.date_modified);
        expect(changes).toEqual(changes.toSorted().toReversed());
        if (list.length > 0) expect(lastChange(source).getTime()).toBeGreaterThanOrEqual(FROM.getTime());
      }),
    );
  });
});
