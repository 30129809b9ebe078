/** What to say when an operation failed: by its stable code, so that it is said in the reader's language. */
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

/** "3 minutes", "20 seconds": how long to wait, in the reader's language. */
function waitText(milliseconds: number, language: string): string {
  const minutes = milliseconds >= MINUTE_MS;
  const format = new Intl.NumberFormat(language, {
    style: 'unit',
    unit: minutes ? 'minute' : 'second',
    unitDisplay: 'long',
  });
  return format.format(Math.ceil(milliseconds / (minutes ? MINUTE_MS : SECOND_MS)));
}

/** A function that gives the sentence for a failure, or undefined when there was none. */
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
