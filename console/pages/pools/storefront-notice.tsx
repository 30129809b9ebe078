/** Whether dedicated pools are on sale, and what the operator says about it; both live. */
import { Megaphone, Store } from 'lucide-react';
import { Banner } from '../../components/notice.tsx';
import { StateWord } from '../../components/state-word.tsx';
import { Ago } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Storefront } from './storefront-documents.ts';

/** The chip in the head of a page. */
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

/** The operator's message; nothing when there is none. */
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
