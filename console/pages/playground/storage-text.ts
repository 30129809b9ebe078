/** Text about the storage for chats, once it is nearly full. */
import { useTranslation } from '../../translation.ts';

/** Share of used storage from which the text is shown. */
const SHOWN_FROM = 0.8;

/** Returns a function from the used share, 0 to 1, to the text; undefined while there is enough storage. */
export function useStorageText(): (used: number) => string | undefined {
  const { t, i18n } = useTranslation();
  return (used) => {
    if (used < SHOWN_FROM) return undefined;
    if (used >= 1) return t('playground.storageFull');
    const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', roundingMode: 'floor' });
    return t('playground.storageUsed', { percent: percent.format(used) });
  };
}
