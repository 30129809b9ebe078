/** Timeouts and limits of an upstream, and how often it is probed. */
import { Pencil } from 'lucide-react';
import { IconButton } from '../../../components/button.tsx';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Provider, UpstreamTask } from './documents.ts';
import { Head } from './upstream-parts.tsx';

const SECOND_MS = 1_000;
const PHASES = ['connectMs', 'headersMs', 'firstContentMs', 'idleMs', 'totalMs'] as const;

interface LimitsProps {
  provider: Provider;
  onTask: (task: UpstreamTask) => void;
}

/** The section. */
export function Limits({ provider, onTask }: LimitsProps) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const { timeouts, concurrencyLimit, probeMinutes } = provider;
  const edit = (
    <IconButton label={t('admin.quirks.probing')} onClick={() => onTask({ kind: 'probing', provider })}>
      <Pencil size={16} strokeWidth={1.75} />
    </IconButton>
  );
  return (
    <section>
      <Head title={t('admin.upstreams.limits')} action={edit} />
      <LeaderList>
        {PHASES.map((phase) => (
          <LeaderRow key={phase} name={t(`admin.upstreams.phases.${phase}`)}>
            {t('state.seconds', { value: number.format(timeouts[phase] / SECOND_MS) })}
          </LeaderRow>
        ))}
        <LeaderRow name={t('admin.upstreams.concurrency')}>{concurrencyLimit ?? t('state.none')}</LeaderRow>
        <LeaderRow name={t('admin.quirks.probing')}>
          {probeMinutes === null ? t('state.none') : t('admin.quirks.everyMinutes', { value: probeMinutes })}
        </LeaderRow>
      </LeaderList>
    </section>
  );
}
