/** Warns that running pools include a model: pools keep their models until they end. */
import { Snowflake } from 'lucide-react';
import { Banner } from '../../../components/notice.tsx';
import { useTranslation } from '../../../translation.ts';
import type { AdminModel } from './documents.ts';

/** The warning; nothing if no running pool includes the model. */
export function FrozenNotice({ model }: { model: Pick<AdminModel, 'frozenInPools'> }) {
  const { t } = useTranslation();
  const count = model.frozenInPools ?? 0;
  if (count === 0) return null;
  return (
    <Banner tone="warn" icon={<Snowflake size={16} strokeWidth={1.75} aria-hidden="true" />}>
      {t('admin.models.frozen', { count })}
    </Banner>
  );
}
