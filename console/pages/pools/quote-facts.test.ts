import { describe, expect, test } from 'vitest';
import { lineTexts } from './quote-facts.tsx';
import type { TFunction } from '../../translation.ts';

/** Translates a key into itself. */
const t = ((key: string) => key) as TFunction;
const quote = { included: 3, days: 30 };

describe('the label of a price line', () => {
  test('is translated for the base price and for additional models', () => {
    const base = { label: 'Dedicated pool', quantity: 1, unitPrice: '90.00' };
    const additional = { label: 'Further model', quantity: 2, unitPrice: '5.00' };
    expect(lineTexts(t, { ...quote, line: base, index: 0 }).name).toBe('purchase.lineBase');
    expect(lineTexts(t, { ...quote, line: additional, index: 1 })).toMatchObject({
      name: 'purchase.lineAdditional',
      note: expect.stringContaining('2 × '),
    });
  });

  test('is the text of the service for a line that the console does not know', () => {
    const setup = { label: 'Set-up fee', quantity: 1, unitPrice: '10.00' };
    expect(lineTexts(t, { ...quote, line: setup, index: 1 })).toEqual({ name: 'Set-up fee' });
  });
});
