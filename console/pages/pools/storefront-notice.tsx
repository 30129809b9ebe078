/** State of the storefront, and the operator's message. */
import { Megaphone, Store } from 'lucide-react';
import { Banner } from '../../components/notice.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { Ago } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Storefront } from './storefront-documents.ts';

/** Whether the storefront is open, for the head of a page. */
export function StorefrontChip({ state }: Pick<Storefront, 'state'>) {
  const { t } = useTranslation();
  return (
    <span role="status">
      <StateWord
        icon={Store}
        tone={state === 'OPEN' ? 'good' : 'quiet'}
        word={t(`pools.store.${state}`)}
        chip
      />
    </span>
  );
}

/** The operator's message; nothing if there is none. */
export function OperatorMessage({ storefront: { message, changedAt } }: { storefront: Storefront }) {
  const { t } = useTranslation();
  if (message === null) return null;
  const updated = (
    <span className="py-1.5 text-table text-ink-2 max-sm:w-full max-sm:pl-7">
      {t('pools.updated')} <Ago at={changedAt} />
    </span>
  );
  return (
    <Banner
      tone="quiet"
      icon={<Megaphone size={16} strokeWidth={1.75} aria-hidden="true" />}
      action={updated}
    >
      <strong className="font-semibold">{t('pools.operator')}</strong> {message}
    </Banner>
  );
}
