/** How current the prices are: live, or as of the last answer. */
import { useEffect, useState } from 'react';
import { useStore } from '../../components/store.ts';
import { formatOf } from '../../components/time.tsx';
import { useSession } from '../../session.tsx';
import { useTranslation } from '../../translation.ts';

/** The text. `data` is the query result of the page, which is a new object after each change. */
export function Freshness({ data }: { data: object }) {
  const { t, i18n } = useTranslation();
  const connection = useStore(useSession().connection);
  const [changedAt, setChangedAt] = useState(() => new Date());
  useEffect(() => setChangedAt(new Date()), [data]);
  const time = formatOf(i18n.language, { timeStyle: 'short', hourCycle: 'h23' }).format(changedAt);
  const words = { live: 'pricing.live', reconnecting: 'pricing.stale', idle: 'state.asOf' } as const;
  return (
    <p role="status" className="text-table text-ink-3">
      {t(words[connection], { time })}
    </p>
  );
}
