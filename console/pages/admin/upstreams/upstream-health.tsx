/** Health of an upstream as reported by the nodes: a status for lists, figures for its page. */
import { CircleCheck, CircleDot, CircleX, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useDurationText } from '../../../components/duration.ts';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Rich } from '../../../components/rich.tsx';
import { StateWord, type Tone } from '../../../components/state-word.tsx';
import { Ago, Clock } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { HealthWord } from '../health/health-word.tsx';
import type { Provider } from './documents.ts';

type Health = Provider['health'];

interface Look {
  icon: LucideIcon;
  tone: Tone;
}
const CIRCUITS: Record<Health['circuit'], Look> = {
  CLOSED: { icon: CircleCheck, tone: 'good' },
  HALF_OPEN: { icon: CircleDot, tone: 'warn' },
  OPEN: { icon: CircleX, tone: 'bad' },
};
const PERCENT = 100;
const FAULTS = ['BUSY', 'TIMEOUT', 'REFUSED', 'FAILED'] as const;

/** The status. */
export function UpstreamHealthWord({ health: { status } }: { health: Health }) {
  const { t } = useTranslation();
  return <HealthWord status={status} word={t(`admin.upstreams.health.statuses.${status}`)} />;
}

/** The figures of all nodes together, of each node, and of each credential. */
export function UpstreamHealth({ provider: { health, credentials } }: { provider: Provider }) {
  const { t } = useTranslation();
  return (
    <div className="mb-10 grid grid-cols-3 gap-10 text-table max-xl:grid-cols-1">
      <Part title={t('admin.upstreams.health.title')}>
        <AllNodes health={health} />
      </Part>
      <Part title={t('admin.upstreams.health.nodes')}>
        {health.nodes.length > 0 ? (
          <EachNode nodes={health.nodes} />
        ) : (
          t('admin.upstreams.health.statuses.UNKNOWN')
        )}
      </Part>
      <Part title={t('admin.upstreams.health.credentials')}>
        <LeaderList>
          {credentials.map((credential) => (
            <CredentialUse key={credential.id} credential={credential} />
          ))}
        </LeaderList>
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="min-w-0">
      <h2 className="mb-2 text-section">{title}</h2>
      {children}
    </section>
  );
}

function AllNodes({ health }: { health: Health }) {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const number = new Intl.NumberFormat(i18n.language);
  const rounded = new Intl.NumberFormat(i18n.language, { maximumFractionDigits: 1 });
  const { status, circuit, requests5m, errorRate5m, p95LatencyMs, asOf } = health;
  const { inputTokens5m, cachedTokens5m, needsCredential } = health;
  return (
    <LeaderList>
      <LeaderRow name={t('admin.state')}>
        <UpstreamHealthWord health={health} />
      </LeaderRow>
      {status !== 'UNKNOWN' && (
        <>
          <LeaderRow name={t('admin.upstreams.health.circuit')}>
            <Circuit circuit={circuit} />
            {needsCredential && (
              <div className="text-hint text-bad">{t('admin.upstreams.health.needsCredential')}</div>
            )}
          </LeaderRow>
          <LeaderRow name={t('admin.upstreams.health.requests')}>{number.format(requests5m)}</LeaderRow>
          {errorRate5m !== null && (
            <LeaderRow name={t('admin.upstreams.health.failed')}>
              {t('admin.upstreams.health.share', { value: number.format(Number(errorRate5m) * PERCENT) })}
            </LeaderRow>
          )}
          {Number(inputTokens5m) > 0 && (
            <LeaderRow name={t('admin.upstreams.health.fromCache')}>
              {t('admin.upstreams.health.share', {
                value: rounded.format((PERCENT * Number(cachedTokens5m)) / Number(inputTokens5m)),
              })}
            </LeaderRow>
          )}
          {p95LatencyMs !== null && (
            <LeaderRow name={t('admin.upstreams.health.p95')}>{durationText(p95LatencyMs)}</LeaderRow>
          )}
        </>
      )}
      {asOf !== null && (
        <LeaderRow name={t('admin.upstreams.health.asOf')}>
          <Ago at={asOf} />
        </LeaderRow>
      )}
      <LastProbe health={health} />
    </LeaderList>
  );
}

function LastProbe({ health }: { health: Health }) {
  const { t } = useTranslation();
  const durationText = useDurationText();
  const { lastProbeAt, lastProbeStatus, lastProbeLatencyMs, lastProbeError } = health;
  const name = t('admin.upstreams.health.probe');
  if (lastProbeAt === null) return <LeaderRow name={name}>{t('state.never')}</LeaderRow>;
  const word = lastProbeError ?? 'NONE';
  return (
    <LeaderRow name={name} note={<Ago at={lastProbeAt} />}>
      <HealthWord
        status={word === 'NONE' ? 'OK' : 'DOWN'}
        word={t(`admin.upstreams.health.faults.${word}`)}
      />
      <div className="text-hint text-ink-3">
        {lastProbeStatus !== null && `HTTP ${lastProbeStatus}${t('state.separator')}`}
        {durationText(lastProbeLatencyMs ?? 0)}
      </div>
    </LeaderRow>
  );
}

function EachNode({ nodes }: Pick<Health, 'nodes'>) {
  const { t, i18n } = useTranslation();
  const durationText = useDurationText();
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <LeaderList>
      {nodes.map(({ nodeName, circuit, requests, busy, timeouts, refused, failed, clockAheadMs }) => (
        <LeaderRow key={nodeName} name={nodeName}>
          <Circuit circuit={circuit} />
          <div className="text-hint text-ink-3">
            {t('admin.upstreams.health.ofRequests', {
              failed: number.format(busy + timeouts + refused + failed),
              requests: number.format(requests),
            })}
          </div>
          <FaultCounts counts={{ BUSY: busy, TIMEOUT: timeouts, REFUSED: refused, FAILED: failed }} />
          {clockAheadMs !== null && (
            <div className="text-hint text-bad">
              {t('admin.upstreams.health.clock', {
                time: `${clockAheadMs > 0 ? '+' : '−'}${durationText(Math.abs(clockAheadMs))}`,
              })}
            </div>
          )}
        </LeaderRow>
      ))}
    </LeaderList>
  );
}

/** How often requests failed for each reason; nothing without failures. */
function FaultCounts({ counts }: { counts: Record<NonNullable<Health['lastProbeError']>, number> }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <ul className="text-hint text-ink-3">
      {FAULTS.filter((fault) => counts[fault] > 0).map((fault) => (
        <li key={fault}>
          {t('admin.upstreams.health.faultCount', {
            fault: t(`admin.upstreams.health.faults.${fault}`),
            shown: number.format(counts[fault]),
          })}
        </li>
      ))}
    </ul>
  );
}

function CredentialUse({ credential }: { credential: Provider['credentials'][number] }) {
  const { t } = useTranslation();
  const { label, lastUsedAt, lastError, lastErrorAt, suspendedUntil, quotaSpentUntil } = credential;
  return (
    <LeaderRow name={<span className="break-words">{label}</span>}>
      {lastUsedAt === null ? t('state.never') : <Ago at={lastUsedAt} />}
      {lastError !== null && lastErrorAt !== null && (
        <div className="text-hint text-ink-3">
          <Rich
            text={t('admin.upstreams.health.faultAgo', {
              fault: t(`admin.upstreams.health.faults.${lastError}`),
            })}
            marks={{ ago: () => <Ago at={lastErrorAt} /> }}
          />
        </div>
      )}
      <LeftAlone word={t('admin.upstreams.health.suspended')} until={suspendedUntil} />
      <LeftAlone word={t('admin.upstreams.health.spent')} until={quotaSpentUntil} />
    </LeaderRow>
  );
}

/** Until when nodes leave a credential or a route alone; nothing if they do not. */
export function LeftAlone({ word, until }: { word: string; until: string | null }) {
  if (until === null) return null;
  return (
    <div className="text-hint text-warn">
      {word} <Clock at={until} />
    </div>
  );
}

function Circuit({ circuit }: Pick<Health, 'circuit'>) {
  const { t } = useTranslation();
  return <StateWord {...CIRCUITS[circuit]} word={t(`admin.upstreams.health.circuits.${circuit}`)} />;
}
