/**
 * Texts for administrators that replace the general text of an error, which is written for customers or too
 * short.
 */
import type { Refusal } from '../../answer-fields.ts';

/** The errors with these words; errors without words of their own stay. */
export function worded(
  errors: readonly Refusal[] | undefined,
  words: Readonly<Record<string, string>>,
): readonly Refusal[] | undefined {
  // Forms show the message of an INVALID error as it is.
  return errors?.map((error) => {
    const message = words[error.code];
    return message === undefined ? error : { ...error, code: 'INVALID', message };
  });
}
