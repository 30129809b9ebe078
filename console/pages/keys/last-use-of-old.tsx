/** The last use of a rotation's old secret. */
import { Rich } from '../../components/rich.tsx';
import { Ago } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';

/** The sentence. If the old secret is unused, the user can end its grace period at once. */
export function LastUseOfOld({ at }: { at: string | null }) {
  const { t } = useTranslation();
  if (at === null) return t('keys.oldUnused');
  return <Rich text={t('keys.oldUsed')} marks={{ ago: () => <Ago at={at} /> }} />;
}
