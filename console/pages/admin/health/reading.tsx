/** The row of Personal Intelligence on the health page. */
import { LeaderRow } from '../../../components/leader-row.tsx';
import { Money } from '../../../components/money.tsx';
import { useTranslation } from '../../../translation.ts';
import type { AdminHealth } from './documents.ts';
import { HealthWord } from './health-word.tsx';
import { Linked } from './linked.tsx';

const SECONDS_PER_MINUTE = 60;

/** The row: the queue, the chats that could not be read, and the budget of the month. */
export function Reading({ admin, word }: { admin: AdminHealth; word: string }) {
  const { t } = useTranslation();
  const { personalIntelligenceHealth: queue, personalIntelligenceSettings: budget, systemHealth } = admin;
  const { personalIntelligence: status } = systemHealth;
  const { waiting, postponed, quarantined, ageSeconds } = queue;
  const minutes = Math.round(ageSeconds / SECONDS_PER_MINUTE);
  const facts = [
    waiting > 0 && t('admin.health.waiting', { count: waiting, minutes }),
    postponed > 0 && t('admin.health.postponed', { count: postponed }),
    quarantined > 0 && t('admin.health.quarantined', { count: quarantined }),
  ].filter((fact) => fact !== false);
  return (
    <LeaderRow
      name={<Linked to="/admin/personal-intelligence">{t('admin.health.reading')}</Linked>}
      note={
        <>
          {facts.map((fact) => `${fact} · `)}
          <Money amount={budget.spentThisMonth} /> / <Money amount={budget.monthlyBudget} />
        </>
      }
    >
      <HealthWord status={status} word={word} />
    </LeaderRow>
  );
}
