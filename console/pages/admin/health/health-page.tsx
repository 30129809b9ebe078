/** Health of the gateway: its parts, and its background jobs. */
import { useQuery } from 'urql';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { useEvery } from '../../../components/use-now.ts';
import { useTranslation } from '../../../translation.ts';
import { type AdminHealth, HealthQuery } from './documents.ts';
import { type HealthStatus, HealthWord } from './health-word.tsx';
import { JobTable } from './job-table.tsx';
import { Archive } from './archive.tsx';
import { Linked } from './linked.tsx';
import { Reading } from './reading.tsx';
import { Region } from '../region.tsx';
import { TrafficOnceSeen } from '../traffic/traffic-section.tsx';

const REFRESH_MS = 10_000;

/** The page; it refreshes itself every 10 s. */
export function HealthPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: HealthQuery, requestPolicy: 'cache-and-network' });
  useEvery(REFRESH_MS, () => {
    again({ requestPolicy: 'network-only' });
  });
  const health = data?.admin?.systemHealth;
  return (
    <>
      <PageHead
        title={t('admin.places.health')}
        sentence={health ? t(`admin.health.sentences.${health.status}`) : t('state.loading')}
      />
      <Region data={data?.admin} error={error} onRetry={again}>
        {(admin) => (
          <>
            <Parts admin={admin} />
            <section className="mt-10">
              <h2 className="text-section">{t('admin.health.jobs')}</h2>
              <p className="mb-3 text-ink-2">{t('admin.health.jobsSentence')}</p>
              <JobTable jobs={admin.systemHealth.jobs} />
            </section>
            <TrafficOnceSeen title={t('admin.health.traffic')} subject="NODE" />
          </>
        )}
      </Region>
    </>
  );
}

function Parts({ admin }: { admin: AdminHealth }) {
  const { t, i18n } = useTranslation();
  const { systemHealth } = admin;
  const { database, dataPlane, paymentProvider, chains, settlementAlarms24h: alarms } = systemHealth;
  const { nodes, jobs, secrets, personalIntelligence, usageArchive } = systemHealth;
  const { serving, all } = countNodes(nodes);
  const failing = jobs.filter(({ lastError }) => lastError !== null).length;
  const word = (status: HealthStatus) => t(`admin.health.statuses.${status}`);
  const used = (status: HealthStatus) => (status === 'UNKNOWN' ? t('admin.health.unused') : word(status));
  const count = (found: number) => (found === 0 ? t('state.none') : found.toLocaleString(i18n.language));
  return (
    <section className="max-w-[640px]">
      <h2 className="mb-1 text-section">{t('admin.health.parts')}</h2>
      <LeaderList>
        <LeaderRow name={t('admin.health.database')}>
          <HealthWord status={database} word={word(database)} />
        </LeaderRow>
        <LeaderRow
          name={<Linked to="/admin/nodes">{t('admin.health.dataPlane')}</Linked>}
          note={t('admin.health.serving', { serving, all })}
        >
          <HealthWord status={dataPlane} word={word(dataPlane)} />
        </LeaderRow>
        <LeaderRow name={<Linked to="/admin/payments/cards">{t('admin.health.cards')}</Linked>}>
          <HealthWord status={paymentProvider} word={used(paymentProvider)} />
        </LeaderRow>
        <LeaderRow name={<Linked to="/admin/payments/blockchains">{t('admin.health.chains')}</Linked>}>
          <HealthWord status={chains} word={used(chains)} />
        </LeaderRow>
        <Reading admin={admin} word={used(personalIntelligence)} />
        <LeaderRow
          name={t('admin.health.secrets')}
          note={secrets.remaining > 0 ? t('admin.health.secretsRemaining', secrets) : undefined}
        >
          <HealthWord status={secrets.status} word={word(secrets.status)} />
        </LeaderRow>
        <Archive archive={usageArchive} word={used(usageArchive.status)} />
        <LeaderRow
          name={<Linked to="/admin/ledger">{t('admin.health.alarms')}</Linked>}
          note={t('admin.health.lastDay')}
        >
          <HealthWord status={alarms > 0 ? 'DEGRADED' : 'OK'} word={count(alarms)} />
        </LeaderRow>
        <LeaderRow name={t('admin.health.failing')}>
          <HealthWord status={failing > 0 ? 'DEGRADED' : 'OK'} word={count(failing)} />
        </LeaderRow>
      </LeaderList>
    </section>
  );
}

/** Number of nodes that are in use, and how many of them serve. */
function countNodes(nodes: AdminHealth['systemHealth']['nodes']): { serving: number; all: number } {
  const inUse = nodes.filter(({ retired }) => !retired);
  const serving = inUse.filter(({ state }) => state === 'IN_SYNC' || state === 'LAGGING');
  return { serving: serving.length, all: inUse.length };
}
