/** Personal Intelligence for administrators: which model reads chats, its budget, and the queue in counts. */
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { Count } from '../../../components/count.tsx';
import { Button } from '../../../components/button.tsx';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Money } from '../../../components/money.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { useTranslation } from '../../../translation.ts';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';
import { type AdminIntelligence, AdminIntelligenceQuery } from './documents.ts';

const loadDialog = () => import('./intelligence-dialog.tsx');
const IntelligenceDialog = lazy(async () => ({ default: (await loadDialog()).IntelligenceDialog }));

/** The page. */
export function IntelligencePage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: AdminIntelligenceQuery });
  const { task, setTask, close } = useTask<'settings'>(again);
  return (
    <>
      <PageHead
        title={t('admin.intelligence.title')}
        sentence={t('admin.intelligence.sentence')}
        action={
          data?.admin && (
            <Button variant="primary" onClick={() => setTask('settings')}>
              {t('admin.intelligence.edit')}
            </Button>
          )
        }
      />
      <Region data={data?.admin} error={error} onRetry={again}>
        {(admin) => <Facts admin={admin} />}
      </Region>
      <Suspense>
        {task && data?.admin && (
          <IntelligenceDialog admin={data.admin} models={data.catalog.nodes} onClose={close} />
        )}
      </Suspense>
    </>
  );
}

const SECONDS_PER_MINUTE = 60;

function Facts({ admin }: { admin: AdminIntelligence }) {
  const { t } = useTranslation();
  const { personalIntelligenceSettings: settings, personalIntelligenceHealth: health, providers } = admin;
  const names = providers.filter(({ id }) => settings.providerIds?.includes(id)).map(({ name }) => name);
  return (
    <div className="max-w-[720px]">
      <LeaderList>
        <LeaderRow name={t('admin.intelligence.model')}>
          {settings.modelName === null ? t('admin.intelligence.noModel') : <code>{settings.modelName}</code>}
        </LeaderRow>
        <LeaderRow name={t('admin.intelligence.budget')}>
          <Money amount={settings.monthlyBudget} />
        </LeaderRow>
        <LeaderRow name={t('admin.intelligence.spent')}>
          <Money amount={settings.spentThisMonth} />
        </LeaderRow>
        <LeaderRow name={t('admin.intelligence.upstreams')}>
          {settings.providerIds === null
            ? t('admin.intelligence.allUpstreams')
            : names.join(t('state.separator'))}
        </LeaderRow>
        <LeaderRow name={t('admin.intelligence.users')}>
          <Count of={health.users} />
        </LeaderRow>
        <LeaderRow name={t('admin.intelligence.waiting')}>
          {t('admin.intelligence.waitingSince', {
            count: health.waiting,
            minutes: Math.round(health.ageSeconds / SECONDS_PER_MINUTE),
          })}
        </LeaderRow>
        {health.postponed > 0 && (
          <LeaderRow name={t('admin.intelligence.postponed')}>
            <Count of={health.postponed} />
          </LeaderRow>
        )}
        <LeaderRow
          name={t('admin.intelligence.quarantined')}
          note={health.quarantined > 0 ? t('admin.intelligence.quarantinedHint') : undefined}
        >
          <Count of={health.quarantined} />
        </LeaderRow>
      </LeaderList>
      <p className="mt-4 text-table text-ink-2">{t('admin.intelligence.privacy')}</p>
    </div>
  );
}
