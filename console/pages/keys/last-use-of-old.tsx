/** Whether the old secret of a rotation is still in use. */
import { Rich } from '../../components/rich.tsx';
import { Ago } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';

/** The sentence: who reads that nobody uses it need not wait for its end. */
export function LastUseOfOld({ at }: { at: string | null }) {
  const { t } = useTranslation();
  if (at === null) return t('keys.oldUnused');
  return <Rich text={t('keys.oldUsed')} marks={{ ago: () => <Ago at={at} /> }} />;
}
