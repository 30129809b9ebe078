/** Seals survive every other format and come back to their own. */
import fc from 'fast-check';
import { DIALECTS } from '@gateway/shared/catalog';
import { describe, expect, it } from 'vitest';
import type { Seal } from './canonical.ts';
import { holdsEnvelope, openSeal, writeSeal } from './seals.ts';

const name = fc.constantFrom(...DIALECTS);
const value = fc.string({ minLength: 1 }).filter((text) => !text.startsWith('gwseal'));
const seal = fc
  .tuple(name, value, fc.option(fc.string(), { nil: undefined }))
  .map(([dialect, text, id]): Seal => ({ dialect, value: text, ...(id === undefined ? {} : { id }) }));

describe('a seal', () => {
  it('is read unchanged from the signature field of every other format', () => {
    fc.assert(
      fc.property(seal, name, fc.boolean(), (given, wire, next) => {
        fc.pre(given.dialect !== wire || next);
        expect(openSeal(writeSeal(given, wire, next), wire)).toEqual({ seal: given, next });
      }),
    );
  });

  it('is base64 in Google’s format, and found in the body of a request', () => {
    const text = writeSeal({ dialect: 'openai-chat', value: 'ü?>' }, 'google-generate');
    expect(Buffer.from(text, 'base64').toString('base64')).toBe(text);
    expect(holdsEnvelope(JSON.stringify({ thoughtSignature: text }))).toBe(true);
    // Python's SDK sends it in the alphabet for addresses.
    const other = text.replaceAll('+', '-').replaceAll('/', '_');
    expect(openSeal(other, 'google-generate').seal).toEqual({ dialect: 'openai-chat', value: 'ü?>' });
  });

  it('is written without an envelope in its own format', () => {
    expect(writeSeal({ dialect: 'anthropic-messages', value: 'abc' }, 'anthropic-messages')).toBe('abc');
  });

  it('belongs to the format itself if there is no valid envelope', () => {
    for (const text of ['gwseal1_', 'gwseal1_bm90IGpzb24', 'plain']) {
      expect(openSeal(text, 'anthropic-messages').seal).toEqual({
        dialect: 'anthropic-messages',
        value: text,
      });
    }
  });
});
