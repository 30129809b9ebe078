/** Texts of dialogs that show a secret once. */
import type { OnceWords } from '../../components/once-dialog.tsx';
import { useTranslation } from '../../translation.ts';

/** The texts, with this title and sentence. */
export function useOnceWords(title: string, sentence: string): OnceWords {
  const { t } = useTranslation();
  return {
    title,
    sentence,
    stored: t('once.stored'),
    done: t('once.done'),
    notYet: t('once.notYet'),
    guardTitle: t('once.guardTitle'),
    guardSentence: t('once.guardSentence'),
    back: t('once.back'),
    closeAnyway: t('once.closeAnyway'),
  };
}
