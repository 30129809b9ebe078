/** The state that the provider of a model stores on request. */
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { useTranslation } from '../../translation.ts';

interface StoredStateProps {
  model: { storesState: boolean; stateRetentionDays: number };
}

/** The party that stores state on request, and the duration. */
export function StoredState({ model: { storesState, stateRetentionDays } }: StoredStateProps) {
  const { t } = useTranslation();
  return (
    <section>
      <h2 className="mb-2 text-section">{t('model.state')}</h2>
      <LeaderList>
        <LeaderRow name={t('model.stateKept')}>{storesState ? t('model.yes') : t('model.no')}</LeaderRow>
        {storesState && (
          <LeaderRow name={t('model.stateRetention')}>
            {t('model.stateDays', { count: stateRetentionDays })}
          </LeaderRow>
        )}
      </LeaderList>
      <p className="mt-2 text-hint text-ink-3">
        {storesState ? t('model.stateNote') : t('model.noStateNote')}
      </p>
    </section>
  );
}
