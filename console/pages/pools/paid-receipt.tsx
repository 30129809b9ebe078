/** The receipt after a purchase, and the next step: create a key for the pool. */
import { CircleCheck } from 'lucide-react';
import { CopyField } from '../../components/copy.tsx';
import { LeaderList, LeaderRow, LeaderSum } from '../../components/leader-row.tsx';
import { Money } from '../../components/money.tsx';
import { Stamp } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { PoolDetail } from './pool-documents.ts';

/** The newest period as a receipt. */
export function PaidReceipt({ pool }: { pool: PoolDetail }) {
  const { t } = useTranslation();
  const [period] = pool.periods;
  if (!period) return null;
  return (
    <section aria-label={t('pools.receipt')} className="max-w-[640px] rounded-card border border-good p-5">
      <div role="status">
        <h2 className="flex items-center gap-2 text-section">
          <CircleCheck size={16} strokeWidth={1.75} className="flex-none text-good" aria-hidden="true" />
          {t('pools.bought')}
        </h2>
      </div>
      <p className="mt-1 mb-3 text-ink-2">{t('pools.boughtSentence')}</p>
      <LeaderList>
        <LeaderRow name={t('pools.period')}>
          <Stamp at={period.startsAt} /> – <Stamp at={period.endsAt} />
        </LeaderRow>
        <LeaderRow name={t('pools.cap')}>{t('pools.capOf', { count: pool.rpmCap })}</LeaderRow>
        {(period.ledgerEntries ?? []).map(({ id, kind, amount }) => (
          <LeaderRow key={id} name={t(`wallet.kinds.${kind}`)}>
            <Money amount={amount} signed />
          </LeaderRow>
        ))}
        <LeaderSum name={t('pools.paid')}>
          <Money amount={period.paid} />
        </LeaderSum>
      </LeaderList>
      <div className="mt-3">
        <CopyField text={pool.baseUrl} label={t('copy.name', { name: pool.baseUrl })} />
      </div>
    </section>
  );
}
