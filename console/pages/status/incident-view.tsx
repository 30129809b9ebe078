/** One incident with its messages. */
import { CircleAlert, CircleCheck, type LucideIcon, OctagonX, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import { Stamp, stampText } from '../../components/time.tsx';
import { Tag } from '../../components/tag.tsx';
import { listText } from '../../components/list-text.ts';
import { useTranslation } from '../../translation.ts';
import type { Incident } from './documents.ts';

const LOOKS: Record<Incident['kind'], { icon: LucideIcon; tone: Tone }> = {
  DEGRADATION: { icon: CircleAlert, tone: 'warn' },
  OUTAGE: { icon: OctagonX, tone: 'bad' },
  MAINTENANCE: { icon: Wrench, tone: 'accent' },
};

interface IncidentProps {
  incident: Incident;
  /** Buttons of administrators. */
  action?: ReactNode;
}

/** Title, kind, state, affected parts, and the messages, newest first. */
export function IncidentView({ incident, action }: IncidentProps) {
  const { t, i18n } = useTranslation();
  const { id, title, kind, startsAt, endsAt, updates } = incident;
  const names = useAffected(incident);
  const time = (at: string) => stampText(new Date(at), i18n.language);
  return (
    <article id={id} aria-label={title} className="border-b border-line py-4">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="flex min-w-0 flex-1 basis-60 flex-wrap items-center gap-x-3 gap-y-1">
          <h3 className="font-semibold [overflow-wrap:anywhere]">{title}</h3>
          <IncidentMark incident={incident} />
          <Tag>{t(`status.kinds.${kind}`)}</Tag>
        </div>
        {action}
      </div>
      <p className="mt-1 text-table text-ink-2 [overflow-wrap:anywhere]">
        {t('status.affects', { names })} <span aria-hidden="true">·</span>{' '}
        {endsAt === null ? (
          <Stamp at={startsAt} />
        ) : (
          t('status.window', { from: time(startsAt), to: time(endsAt) })
        )}
      </p>
      <ol className="mt-3 flex flex-col gap-3">
        {updates.map((update) => (
          <li key={update.id} className="border-l-2 border-line pl-3">
            <p className="text-hint text-ink-3">
              <span className="font-[550] text-ink-2">{t(`status.states.${update.state}`)}</span>{' '}
              <Stamp at={update.at} />
            </p>
            <p className="whitespace-pre-line [overflow-wrap:anywhere]">{update.message}</p>
          </li>
        ))}
      </ol>
    </article>
  );
}

/** The state, with the icon of the kind while it is open. */
function IncidentMark({ incident: { kind, state } }: { incident: Incident }) {
  const { t } = useTranslation();
  const look = state === 'RESOLVED' ? { icon: CircleCheck, tone: 'good' as const } : LOOKS[kind];
  return <StateWord {...look} word={t(`status.states.${state}`)} />;
}

/** The icon and colour of the whole service while this incident is open. */
export function lookOf({ kind }: Incident): { icon: LucideIcon; tone: Tone } {
  return LOOKS[kind];
}

/** Names of affected models and families, or the words for all of them. */
function useAffected({ modelNames, families }: Incident): string {
  const { t, i18n } = useTranslation();
  const names = [...modelNames, ...families.map((family) => t(`pricing.families.${family}`))];
  return names.length === 0 ? t('status.everything') : listText(names, i18n.language);
}
