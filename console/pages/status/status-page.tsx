/** The public status: open incidents, planned maintenance, uptime by model and family, past incidents. */
import { Link } from '@tanstack/react-router';
import { CircleCheck, Rss } from 'lucide-react';
import type { ReactNode } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-title.ts';
import { StateWord } from '../../components/state-word.tsx';
import { stampText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import { PublicFrame } from '../shell/public-frame.tsx';
import { type Incident, type Status, StatusQuery } from './documents.ts';
import { IncidentView, lookOf } from './incident-view.tsx';
import { Uptime } from './uptime.tsx';

/** The page; it needs no account. */
export function StatusPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: StatusQuery });
  useTitle(t('status.title'));
  return (
    <PublicFrame>
      <header className="mb-8">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <h1 className="text-public">{t('status.title')}</h1>
          {data && <Now incidents={data.serviceStatus.incidents} />}
        </div>
        <p className="mt-1 text-ink-2">{t('status.sentence')}</p>
        <Feeds asOf={data?.serviceStatus.asOf} />
      </header>
      {data && <Parts status={data.serviceStatus} />}
      {!data && !error && <SkeletonRows rows={10} height="h-16" />}
      {!data && error && (
        <Failure
          title={t('status.failed')}
          safe={t('status.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
    </PublicFrame>
  );
}

/** The worst open incident, or that there is none. A maintenance counts from its beginning. */
function Now({ incidents }: { incidents: readonly Incident[] }) {
  const { t } = useTranslation();
  const open = incidents.filter(({ state }) => state !== 'RESOLVED' && state !== 'SCHEDULED');
  const worst = (['OUTAGE', 'DEGRADATION', 'MAINTENANCE'] as const)
    .map((kind) => open.find((incident) => incident.kind === kind))
    .find((incident) => incident !== undefined);
  if (!worst) return <StateWord icon={CircleCheck} tone="good" word={t('status.calm')} chip />;
  return <StateWord {...lookOf(worst)} word={t(`status.now.${worst.kind}`)} chip />;
}

function Feeds({ asOf }: { asOf: string | undefined }) {
  const { t, i18n } = useTranslation();
  return (
    <p className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-table text-ink-2">
      <Rss size={14} strokeWidth={1.75} aria-hidden="true" />
      <a href="/status/feed.atom" className={LINK}>
        {t('status.atom')}
      </a>
      <a href="/status/feed.json" className={LINK}>
        {t('status.json')}
      </a>
      {asOf !== undefined && (
        <span className="text-ink-3">
          {t('state.asOf', { time: stampText(new Date(asOf), i18n.language) })}
        </span>
      )}
    </p>
  );
}

const LINK = 'text-accent underline touch:py-3';

function Parts({ status: { incidents, models, families, from } }: { status: Status }) {
  const { t } = useTranslation();
  const start = new Date(from);
  const of = (wanted: (incident: Incident) => boolean) => incidents.filter(wanted);
  const past = of(({ state }) => state === 'RESOLVED');
  return (
    <div className="flex flex-col gap-10">
      <Incidents
        title={t('status.open')}
        incidents={of(({ state }) => state !== 'RESOLVED' && state !== 'SCHEDULED')}
      />
      <Incidents title={t('status.planned')} incidents={of(({ state }) => state === 'SCHEDULED')} />
      <Part title={t('status.families')} note={t('status.rules')}>
        <Grid>
          {families.map(({ family, ...uptime }) => (
            <Uptime key={family} uptime={uptime} name={t(`pricing.families.${family}`)} from={start} />
          ))}
        </Grid>
      </Part>
      <Part title={t('status.models')}>
        <Grid>
          {models.map(({ name, ...uptime }) => (
            <Uptime key={name} uptime={uptime} name={name} from={start}>
              <Link to="/pricing/$name" params={{ name }} className="hover:underline touch:py-3">
                <code>{name}</code>
              </Link>
            </Uptime>
          ))}
        </Grid>
      </Part>
      {past.length > 0 ? (
        <Incidents title={t('status.past')} incidents={past} />
      ) : (
        <Part title={t('status.past')} note={t('status.pastNone')} />
      )}
    </div>
  );
}

function Part({ title, note, children }: { title: string; note?: string; children?: ReactNode }) {
  return (
    <section>
      <h2 className="mb-3 text-section">{title}</h2>
      {note !== undefined && <p className="mb-4 max-w-[720px] text-ink-2">{note}</p>}
      {children}
    </section>
  );
}

function Grid({ children }: { children: ReactNode }) {
  return <div className="grid grid-cols-2 gap-x-12 gap-y-6 max-lg:grid-cols-1">{children}</div>;
}

/** A list of incidents; nothing without any. */
function Incidents({ title, incidents }: { title: string; incidents: readonly Incident[] }) {
  if (incidents.length === 0) return null;
  return (
    <Part title={title}>
      <div className="border-t border-line-strong">
        {incidents.map((incident) => (
          <IncidentView key={incident.id} incident={incident} />
        ))}
      </div>
    </Part>
  );
}
