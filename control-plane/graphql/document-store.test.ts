/** The memory of stored documents is bounded for every input of callers. */
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import { TOKENS_MAX } from '../limits.ts';
import { DocumentStore } from './document-store.ts';

const SENT = 60;
/** Valid documents, each with a text of its own. */
const small = (name: string): string => `query ${name} { baseAddress }`;
const large = (name: string): string => `query ${name} { ${'__typename '.repeat(TOKENS_MAX - 10)} }`;

describe('the document store', () => {
  it('forgets the document that was not used for longest, and keeps its memory below the limit', async () => {
    const one = parse(small('a'));
    const store = new DocumentStore();
    await store.set('a', one);
    const bounded = new DocumentStore(3 * store.bytes);
    for (const key of ['a', 'b', 'c']) await bounded.set(key, parse(small(key)));
    expect(await bounded.get('a')).toBeDefined();
    await bounded.set('d', parse(small('d')));
    expect(bounded.size).toBe(3);
    expect(await bounded.get('b')).toBeUndefined();
    expect(await bounded.get('a')).toBeDefined();
  });

  it('does not keep a document that is larger than the limit', async () => {
    const store = new DocumentStore(1);
    await store.set('a', parse(small('a')));
    expect([store.size, store.bytes]).toEqual([0, 0]);
  });

  it('counts a document that is set twice once', async () => {
    const store = new DocumentStore();
    await store.set('a', parse(large('a')));
    const { bytes } = store;
    await store.set('a', parse(large('a')));
    expect([store.size, store.bytes]).toEqual([1, bytes]);
  });

  it('forgets documents when a stranger sends many different ones to the server', async () => {
    const documents = new DocumentStore(64 * 1024);
    const test = await startTestApp({ documents });
    try {
      for (let index = 0; index < SENT; index += 1) await test.browser().send(small(`q${index}`));
      expect(documents.size).toBeGreaterThan(5);
      expect(documents.size).toBeLessThan(SENT / 2);
      expect(documents.bytes).toBeLessThanOrEqual(64 * 1024);
      const { bytes } = documents;
      await test.browser().send(small(`q${SENT - 1}`));
      expect(documents.bytes).toBe(bytes);
    } finally {
      await test.close();
    }
  });
});
