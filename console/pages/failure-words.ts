/** Error texts: translated by the stable error code. */
import type { CombinedError } from 'urql';
import { codeOf } from '../client.ts';
import { frame } from '../messages/en/frame.ts';
import { useTranslation } from '../translation.ts';
import type { Refusal } from './answer-fields.ts';

type KnownCode = keyof typeof frame.errors;

function isKnown(code: string): code is KnownCode {
  return Object.hasOwn(frame.errors, code);
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** A waiting time in the user's language, such as "3 minutes". */
function waitText(milliseconds: number, language: string): string {
  const minutes = milliseconds >= MINUTE_MS;
  const format = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: minutes ? 'minute' : 'second',
    unitDisplay: 'long',
  });
  return format.format(Math.ceil(milliseconds / (minutes ? MINUTE_MS : SECOND_MS)));
}

/** Returns a function that gives the text for a failed operation, or undefined if nothing failed. */
export function useFailureWords() {
  const { t, i18n } = useTranslation();
  return (
    error: CombinedError | undefined,
    userErrors: readonly Refusal[] | undefined,
  ): string | undefined => {
    const [first] = userErrors ?? [];
    if (!error && !first) return undefined;
    const code = error ? codeOf(error) : (first?.code ?? '');
    const wait = error?.graphQLErrors[0]?.extensions['retryAfterMs'];
    if (code === 'RATE_LIMITED' && typeof wait === 'number')
      return t('state.rateLimitedFor', { time: waitText(wait, i18n.language) });
    return isKnown(code) ? t(`errors.${code}`) : (first?.message ?? t('errors.INTERNAL_SERVER_ERROR'));
  };
}
