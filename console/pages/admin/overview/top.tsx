/** The models or users with the highest cost of the last 24 hours. */
import { Link } from '@tanstack/react-router';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Money } from '../../../components/money.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Overview } from './documents.ts';

const SHOWN = 5;

interface TopProps {
  title: string;
  groups: Overview['users']['groups'];
  kind: 'model' | 'user';
}

/** The list. */
export function Top({ title, groups, kind }: TopProps) {
  const { t } = useTranslation();
  const largest = groups.toSorted((a, b) => Number(b.totals.cost) - Number(a.totals.cost)).slice(0, SHOWN);
  return (
    <section className="min-w-0">
      <h2 className="mb-2 text-section">{title}</h2>
      {largest.length === 0 && <p className="text-ink-2">{t('admin.overview.nothing')}</p>}
      <LeaderList>
        {largest.map(({ key, label, totals }) => (
          <LeaderRow
            key={key}
            name={<Name kind={kind} id={key} label={label} />}
            note={t('admin.overview.count', { count: totals.requests })}
          >
            <Money amount={totals.cost} className="font-semibold" />
          </LeaderRow>
        ))}
      </LeaderList>
    </section>
  );
}

function Name({ kind, id, label }: { kind: TopProps['kind']; id: string; label: string }) {
  const look = 'rounded-tag text-accent underline [overflow-wrap:anywhere]';
  return kind === 'user' ? (
    <Link to="/admin/users/$id" params={{ id }} className={look}>
      {label}
    </Link>
  ) : (
    <Link to="/pricing/$name" params={{ name: label }} className={look}>
      <code>{label}</code>
    </Link>
  );
}
