/**
 * Times: relative while near, a date after a day, exact with the zone on hover and for screen readers. All of
 * them are told in the zone of the profile; visitors without one see the zone of their device.
 */
import { useEffect, useLayoutEffect, useState } from 'react';
import { useTranslation } from '../translation.ts';
import { createStore, useStore } from './store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SECOND_MS = 1_000;

/** The language of numbers and dates: months stand as words, so that no order of digits can be misread. */
function localeOf(language: string): string {
  return language === 'en' ? 'en-GB' : language;
}

/** The zone of who is signed in; undefined is the zone of the device. */
const zone = createStore<string | undefined>(undefined);

/** Tells all times in this zone from now on; in that of the device for none, and for one it does not know. */
export function setTimeZone(name: string | undefined): void {
  zone.set(name !== undefined && isKnown(name) ? name : undefined);
}

/** Keeps the times in the zone of the profile; false until there is one and it holds. */
export function useTimeZone(name: string | undefined): boolean {
  const [applied, setApplied] = useState<string>();
  useLayoutEffect(() => {
    setTimeZone(name);
    setApplied(name);
  }, [name]);
  return applied !== undefined;
}

/** The one way to a written time: in the language of the page and the zone of the profile. */
export function formatOf(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const timeZone = zone.get();
  return new Intl.DateTimeFormat(localeOf(language), {
    ...(timeZone !== undefined && { timeZone }),
    ...options,
  });
}

function isKnown(name: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
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
  const year = formatOf('en', { year: 'numeric' });
  if (year.format(at) !== year.format(now)) return dateText(at, language);
  return formatOf(language, { day: 'numeric', month: 'short' }).format(at);
}

/** "20 Nov 2026". */
export function dateText(at: Date, language: string): string {
  return formatOf(language, { day: 'numeric', month: 'short', year: 'numeric' }).format(at);
}

/** "20 Nov" for a day of the service's calendar, "2026-11-20", which counts in UTC. */
export function utcDayText(day: string, language: string): string {
  const format = formatOf(language, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return format.format(new Date(`${day}T00:00:00Z`));
}

/** "20 Nov, 15:00:04" with the zone: what a hover shows. */
export function exactText(at: Date, language: string): string {
  return formatOf(language, { dateStyle: 'medium', timeStyle: 'long' }).format(at);
}

/** "20 Nov 15:00" for rows of a log; seconds on request. */
export function stampText(at: Date, language: string, seconds = false): string {
  const clock = formatOf(language, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(seconds ? { second: '2-digit' } : {}),
  }).format(at);
  const day = formatOf(language, { day: 'numeric', month: 'short' }).format(at);
  return `${day} ${clock}`;
}

/** A moment in the past, told from now; kept true while the page is open. */
export function Ago({ at }: { at: string }) {
  const { i18n } = useTranslation();
  useStore(zone);
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
  useStore(zone);
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
  useStore(zone);
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
  useStore(zone);
  const moment = new Date(at);
  const day = formatOf('en', { dateStyle: 'short' });
  const today = day.format(moment) === day.format(new Date());
  const clock = formatOf(i18n.language, { timeStyle: 'medium', hourCycle: 'h23' });
  return (
    <time dateTime={at} title={exactText(moment, i18n.language)} className="whitespace-nowrap">
      {today ? clock.format(moment) : stampText(moment, i18n.language)}
    </time>
  );
}
