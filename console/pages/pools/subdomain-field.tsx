/** The subdomain of a new pool. Shows while typing whether it is available. */
import { CircleCheck } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { Field } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { SubdomainQuery } from './documents.ts';

const PAUSE_MS = 300;
const CHARACTERS_MIN = 3;
const CHARACTERS_MAX = 32;

interface SubdomainFieldProps {
  value: string;
  onChange: (value: string) => void;
  /** The host that the subdomain belongs to. */
  baseHost: string;
  /** The error of the purchase for this field. */
  error: string | undefined;
}

/** The input. For a taken name, it offers one that is available. */
export function SubdomainField({ value, onChange, baseHost, error }: SubdomainFieldProps) {
  const { t } = useTranslation();
  const answer = useAvailability(value);
  const free = error === undefined && answer?.available === true;
  const refused = error ?? answer?.refused;
  const hint = free ? (
    <span className="flex items-center gap-1.5 text-good">
      <CircleCheck size={14} strokeWidth={1.75} aria-hidden="true" />
      {t('purchase.available')}
    </span>
  ) : (
    t('purchase.subdomainHint')
  );
  const suggestion = answer?.suggestion;
  return (
    <div>
      <Field
        label={t('purchase.subdomain')}
        id="pool-subdomain"
        value={value}
        onChange={(event) => onChange(event.target.value.trim().toLowerCase())}
        maxLength={CHARACTERS_MAX}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        after={<span className="max-w-1/2 flex-none truncate text-ink-2">.{baseHost}</span>}
        error={refused}
        hint={hint}
      />
      <span role="status" className="sr-only">
        {free ? t('purchase.available') : (refused ?? '')}
      </span>
      {suggestion && (
        <button
          type="button"
          className="mt-1 text-hint font-[550] text-accent underline touch:min-h-11"
          onClick={() => onChange(suggestion)}
        >
          {t('purchase.useInstead', { name: suggestion })}
        </button>
      )}
    </div>
  );
}

interface Answer {
  available: boolean;
  refused?: string;
  suggestion?: string | null;
}

/** Whether a name is available, asked after a pause in typing; undefined if unknown or too short. */
function useAvailability(value: string): Answer | undefined {
  const { t } = useTranslation();
  const failureWords = useFailureWords();
  const [asked, setAsked] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(value), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  const [{ data, error }] = useQuery({
    query: SubdomainQuery,
    variables: { subdomain: asked },
    pause: asked.length < CHARACTERS_MIN,
    requestPolicy: 'network-only',
  });
  if (value.length < CHARACTERS_MIN || asked !== value) return undefined;
  if (error) return { available: false, refused: failureWords(error, undefined) ?? '' };
  const answer = data?.subdomainAvailability;
  if (answer?.subdomain !== value) return undefined;
  if (answer.available) return { available: true };
  const code = answer.reason ?? 'INVALID';
  const refused =
    code === 'INVALID'
      ? t('purchase.subdomainWrong')
      : (failureWords(undefined, [{ code, message: t('purchase.subdomainWrong'), field: null }]) ?? '');
  return { available: false, refused, suggestion: answer.suggestion };
}
