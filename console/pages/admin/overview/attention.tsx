/** Problems for an administrator: parts that do not work, failing jobs, upstreams in trouble. */
import { Link, type LinkProps } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import { StateWord } from '../../../components/state-word.tsx';
import { useTranslation } from '../../../translation.ts';
import { HealthWord, type HealthStatus } from '../health/health-word.tsx';
import type { Overview } from './documents.ts';

const ROW = 'flex min-h-9 items-center justify-between gap-4 border-b border-line py-1 last:border-0';
const LINK = 'rounded-tag text-accent underline';

interface Concern {
  id: string;
  name: string;
  status: HealthStatus;
  /** The page of the part; unused for an upstream. */
  to?: LinkProps['to'];
  /** The id of the upstream. */
  of?: string;
}

/** The list, or that nothing needs attention. */
export function Attention({ admin }: { admin: Overview }) {
  const { t } = useTranslation();
  const concerns = useConcerns(admin);
  return (
    <section className="max-w-[640px]">
      <h2 className="mb-2 text-section">{t('admin.overview.attention')}</h2>
      {concerns.length === 0 ? (
        <StateWord icon={CircleCheck} tone="good" word={t('admin.overview.fine')} />
      ) : (
        <ul>
          {concerns.map(({ id, name, status, to, of }) => (
            <li key={id} className={ROW}>
              {of === undefined ? (
                <Link to={to} className={LINK}>
                  {name}
                </Link>
              ) : (
                <Link to="/admin/upstreams/$id" params={{ id: of }} className={LINK}>
                  {name}
                </Link>
              )}
              <HealthWord status={status} word={t(`admin.health.statuses.${status}`)} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function useConcerns({ systemHealth, providers }: Overview): Concern[] {
  const { t } = useTranslation();
  const { database, dataPlane, paymentProvider, chains, settlementAlarms24h, jobs } = systemHealth;
  const parts: Concern[] = [
    { id: 'database', name: t('admin.health.database'), status: database, to: '/admin/health' },
    { id: 'nodes', name: t('admin.health.dataPlane'), status: dataPlane, to: '/admin/nodes' },
    { id: 'cards', name: t('admin.health.cards'), status: paymentProvider, to: '/admin/payments/cards' },
    { id: 'chains', name: t('admin.health.chains'), status: chains, to: '/admin/payments/blockchains' },
    {
      id: 'alarms',
      name: t('admin.health.alarms'),
      status: settlementAlarms24h > 0 ? 'DEGRADED' : 'OK',
      to: '/admin/ledger',
    },
    {
      id: 'jobs',
      name: t('admin.health.failing'),
      status: jobs.some(({ lastError }) => lastError !== null) ? 'DEGRADED' : 'OK',
      to: '/admin/health',
    },
  ];
  const upstreams = providers
    .filter(({ enabled }) => enabled)
    .map(({ id, name, health }): Concern => ({
      id,
      name: t('admin.overview.upstream', { name }),
      status: health.status,
      of: id,
    }));
  return [...parts, ...upstreams].filter(({ status }) => status === 'DEGRADED' || status === 'DOWN');
}
