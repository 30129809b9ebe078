/** Says how many running pools froze a model when they were bought. */
import { Snowflake } from 'lucide-react';
import { Banner } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';
import type { AdminModel } from './catalog-documents.ts';

/** The warning; nothing where no pool has the model. */
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
