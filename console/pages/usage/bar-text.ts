/** The name of a bar: its UTC day, and its hour if it has one. */
import { utcDayText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';

/** Returns a function that names a bar: "20 Nov", or "20 Nov, 14:00" for "2026-11-20T14". */
export function useBarText(): (id: string) => string {
  const { i18n } = useTranslation();
  return (id) => {
    const [day = '', hour] = id.split('T');
    const date = utcDayText(day, i18n.language);
    return hour === undefined ? date : `${date}, ${hour}:00`;
  };
}

/** The label under a bar: the day of the month or the hour; the date at the start of a month or day. */
export function barLabel(id: string, index: number, dateOf: (day: string) => string): string {
  const [day = '', hour] = id.split('T');
  const starts = index === 0 || (hour === undefined ? id.endsWith('-01') : hour === '00');
  return starts ? dateOf(day) : String(Number(hour ?? day.slice('YYYY-MM-'.length)));
}
