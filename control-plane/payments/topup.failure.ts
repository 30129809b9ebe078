/**
 * Why a top-up failed, as data, which clients put into words of the reader's language. It is found from the
 * stored code, which is the processor's for a refusal.
 */
import { describeEnum } from '../graphql/enums.ts';
import type { TopUpRow } from './topup.entity.ts';

export const TopUpFailure = describeEnum('TopUpFailure', 'Why a top-up failed, or ended without a payment.', {
  DEMO_ENDED: 'The demo ended before it was paid.',
  WITHDRAWN: 'The card or the settings changed before an automatic payment was made.',
  NO_ANSWER: 'The card processor did not answer an automatic payment for a day.',
  NO_CARD: 'No card was saved for an automatic payment.',
  CONFIRMATION_NEEDED: 'The bank wants the owner to confirm an automatic payment.',
  CARD_REFUSED: 'The saved card was refused.',
  PROCESSOR_REFUSED: 'The card processor refused to open its page for the payment.',
  BANK_REFUSED: 'The payment failed at the bank.',
});
export type TopUpFailure = keyof typeof TopUpFailure;

/** Failures that the gateway decided itself, by their stored code. */
const OWN: Readonly<Record<string, TopUpFailure>> = {
  demo_ended: 'DEMO_ENDED',
  withdrawn: 'WITHDRAWN',
  no_answer: 'NO_ANSWER',
  no_card: 'NO_CARD',
};

/** The code of a card error for which the owner must confirm the payment. */
export const AUTHENTICATION = 'authentication_required';

/** States of a top-up without a payment. One that failed first and was credited later has not failed. */
const UNPAID: ReadonlySet<TopUpRow['state']> = new Set(['FAILED', 'EXPIRED']);

/** Why the top-up failed; null if it did not fail, or if nobody knows more than its state. */
export function failureOf(
  row: Pick<TopUpRow, 'state' | 'automatic' | 'failureCode' | 'failureMessage'>,
): TopUpFailure | null {
  if (!UNPAID.has(row.state)) return null;
  const { automatic, failureCode: code = null, failureMessage: message = null } = row;
  // The processor reports a failure at the bank without a code.
  if (code === null) return message === null ? null : 'BANK_REFUSED';
  const own = OWN[code];
  if (own) return own;
  if (!automatic) return 'PROCESSOR_REFUSED';
  return code.split(' ').includes(AUTHENTICATION) ? 'CONFIRMATION_NEEDED' : 'CARD_REFUSED';
}
