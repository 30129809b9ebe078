/** Tests of the reasons of failed top-ups, from the codes that are stored. */
import { describe, expect, test } from 'vitest';
import { failureOf } from './topup.failure.ts';
import type { TopUpFailure } from './topup.failure.ts';

describe('the failure of a top-up', () => {
  test.each<[code: string | null, automatic: boolean, failure: TopUpFailure]>([
    ['demo_ended', false, 'DEMO_ENDED'],
    ['withdrawn', true, 'WITHDRAWN'],
    ['no_answer', true, 'NO_ANSWER'],
    ['no_card', true, 'NO_CARD'],
    ['StripeCardError authentication_required 402', true, 'CONFIRMATION_NEEDED'],
    ['StripeCardError card_declined 402', true, 'CARD_REFUSED'],
    ['not_paid', true, 'CARD_REFUSED'],
    ['StripeInvalidRequestError amount_too_small 400', false, 'PROCESSOR_REFUSED'],
    ['unknown', false, 'PROCESSOR_REFUSED'],
    [null, false, 'BANK_REFUSED'],
  ])('with the code %s (automatic: %s) is %s', (failureCode, automatic, failure) => {
    expect(failureOf({ state: 'FAILED', automatic, failureCode, failureMessage: 'Something failed.' })).toBe(
      failure,
    );
  });

  test('is null without a code and a message', () => {
    const failed = { state: 'EXPIRED', automatic: false } as const;
    expect(failureOf({ ...failed, failureCode: null, failureMessage: null })).toBeNull();
  });

  test('is null after a later attempt was credited, while the code of the first is still stored', () => {
    const stored = { automatic: false, failureCode: 'unknown', failureMessage: 'Something failed.' };
    const states = ['CREDITED', 'FAILED', 'EXPIRED'] as const;
    const failures = states.map((state) => failureOf({ ...stored, state }));
    expect(failures).toEqual([null, 'PROCESSOR_REFUSED', 'PROCESSOR_REFUSED']);
  });
});
