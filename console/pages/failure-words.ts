/** What to say when an operation failed: by its stable code, so that it is said in the reader's language. */
import { useTranslation } from 'react-i18next';
import type { CombinedError } from 'urql';
import { codeOf } from '../client.ts';
import { frame } from '../messages/en/frame.ts';

interface UserError {
  code: string;
  message: string;
  field: string[] | null;
}

type KnownCode = keyof typeof frame.errors;

function isKnown(code: string): code is KnownCode {
  return Object.hasOwn(frame.errors, code);
}

/** A function that gives the sentence for a failure, or undefined when there was none. */
export function useFailureWords() {
  const { t } = useTranslation();
  return (
    error: CombinedError | undefined,
    userErrors: readonly UserError[] | undefined,
  ): string | undefined => {
    const [first] = userErrors ?? [];
    if (!error && !first) return undefined;
    const code = error ? codeOf(error) : (first?.code ?? '');
    return isKnown(code) ? t(`errors.${code}`) : (first?.message ?? t('errors.INTERNAL_SERVER_ERROR'));
  };
}
