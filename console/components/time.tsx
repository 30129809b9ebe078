/** Times: relative while near, a date after a day, exact with the zone on hover and for screen readers. */
import { useTranslation } from 'react-i18next';
import { useEffect, useState } from 'react';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SECOND_MS = 1_000;

/** The language of numbers and dates: months stand as words, so that no order of digits can be misread. */
function localeOf(language: string): string {
  return language === 'en' ? 'en-GB' : language;
}

/** "34 s ago" and the like below a day, otherwise the date. */
export function relative(at: Date, now: number, language: string): string {
  const age = now - at.getTime();
  if (Math.abs(age) >= DAY_MS) return nearDate(at, now, language);
  const format = new Intl.RelativeTimeFormat(localeOf(language), { numeric: 'always', style: 'narrow' });
  const size = Math.abs(age);
  if (size < MINUTE_MS) return format.format(-Math.round(age / SECOND_MS), 'second');
  if (size < HOUR_MS) return format.format(-Math.round(age / MINUTE_MS), 'minute');
  return format.format(-Math.round(age / HOUR_MS), 'hour');
}

function nearDate(at: Date, now: number, language: string): string {
  if (at.getFullYear() !== new Date(now).getFullYear()) return dateText(at, language);
  return new Intl.DateTimeFormat(localeOf(language), { day: 'numeric', month: 'short' }).format(at);
}

/** "20 Nov 2026". */
export function dateText(at: Date, language: string): string {
  return new Intl.DateTimeFormat(localeOf(language), {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  }).format(at);
}

/** "20 Nov" for a day of the service's calendar, "2026-11-20", which counts in UTC. */
export function utcDayText(day: string, language: string): string {
  const format = new Intl.DateTimeFormat(localeOf(language), {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });
  return format.format(new Date(`${day}T00:00:00Z`));
}

/** "20 Nov, 15:00:04" with the zone: what a hover shows. */
export function exactText(at: Date, language: string): string {
  return new Intl.DateTimeFormat(localeOf(language), { dateStyle: 'medium', timeStyle: 'long' }).format(at);
}

/** "20 Nov 15:00" for rows of a log; seconds on request. */
export function stampText(at: Date, language: string, seconds = false): string {
  const clock = new Intl.DateTimeFormat(localeOf(language), {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(seconds ? { second: '2-digit' } : {}),
  }).format(at);
  const day = new Intl.DateTimeFormat(localeOf(language), { day: 'numeric', month: 'short' }).format(at);
  return `${day} ${clock}`;
}

/** A moment in the past, told from now; kept true while the page is open. */
export function Ago({ at }: { at: string }) {
  const { i18n } = useTranslation();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, MINUTE_MS / 2);
    return () => {
      clearInterval(timer);
    };
  }, []);
  const moment = new Date(at);
  return (
    <time dateTime={at} title={exactText(moment, i18n.language)}>
      {relative(moment, now, i18n.language)}
    </time>
  );
}

/** A moment of a log. */
export function Stamp({ at, seconds = false }: { at: string; seconds?: boolean }) {
  const { i18n } = useTranslation();
  const moment = new Date(at);
  return (
    <time dateTime={at} title={exactText(moment, i18n.language)} className="whitespace-nowrap">
      {stampText(moment, i18n.language, seconds)}
    </time>
  );
}

/** A date. */
export function Day({ at }: { at: string }) {
  const { i18n } = useTranslation();
  const moment = new Date(at);
  return (
    <time dateTime={at} title={exactText(moment, i18n.language)}>
      {dateText(moment, i18n.language)}
    </time>
  );
}

/** A moment of a log: today's by the clock to the second, earlier ones with their day. */
export function Clock({ at }: { at: string }) {
  const { i18n } = useTranslation();
  const moment = new Date(at);
  const today = moment.toDateString() === new Date().toDateString();
  const clock = new Intl.DateTimeFormat(localeOf(i18n.language), { timeStyle: 'medium', hourCycle: 'h23' });
  return (
    <time dateTime={at} title={exactText(moment, i18n.language)} className="whitespace-nowrap">
      {today ? clock.format(moment) : stampText(moment, i18n.language)}
    </time>
  );
}
