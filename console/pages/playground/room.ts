/** Words on the room that stored chats have, once it is getting scarce. */
import { useTranslation } from '../../translation.ts';

/** Below this part nobody has to think of it. */
const NOTICED_FROM = 0.8;

/** A function that says how much of the room is taken, from 0 to 1; undefined while there is plenty. */
export function useRoomWords(): (used: number) => string | undefined {
  const { t, i18n } = useTranslation();
  return (used) => {
    if (used < NOTICED_FROM) return undefined;
    if (used >= 1) return t('playground.roomFull');
    const percent = new Intl.NumberFormat(i18n.language, { style: 'percent', roundingMode: 'floor' });
    return t('playground.roomTaken', { percent: percent.format(used) });
  };
}
