/**
 * Texts and elements for times. All use the time zone of the signed-in user's profile, or that of the device
 * if nobody is signed in. The tooltip of each element has the exact time.
 */
import { useEffect, useLayoutEffect, useState } from 'react';
import { useTranslation } from '../translation.ts';
import { createStore, useStore } from './store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const SECOND_MS = 1_000;

/** The locale of dates in a language of the console. English dates put the day before the month. */
function localeOf(language: string): string {
  return language === 'en' ? 'en-GB' : language;
}

/** The time zone of the signed-in user; undefined for the device's time zone. */
const zone = createStore<string | undefined>(undefined);

/** Sets the time zone of all times. Uses the device's time zone if `name` is undefined or unknown. */
export function setTimeZone(name: string | undefined): void {
  try {
    // Throws a RangeError for an unknown name.
    formatOf('en', { timeZone: name });
    zone.set(name);
  } catch {
    zone.set(undefined);
  }
}

/** Sets the time zone of all times. Returns whether a time zone has been set. */
export function useTimeZone(name: string | undefined): boolean {
  const [applied, setApplied] = useState<string>();
  useLayoutEffect(() => {
    setTimeZone(name);
    setApplied(name);
  }, [name]);
  return applied !== undefined;
}

// The browser needs more time to make a format than to use it a hundred times, and tables show many times.
const formats: Record<string, Intl.DateTimeFormat> = {};

/**
 * A date format in this language and the current time zone. Every text for a time is made by such a format.
 */
export function formatOf(language: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const all = { timeZone: zone.get(), ...options };
  return (formats[language + JSON.stringify(all)] ??= new Intl.DateTimeFormat(localeOf(language), all));
}

/** A time less than a day before or after `now` as "34 s ago" or "in 3 hr"; any other time as a date. */
export function relative(at: Date, now: number, language: string): string {
  const age = now - at.getTime();
  const size = Math.abs(age);
  if (size >= DAY_MS) return dateWithoutCurrentYear(at, now, language);
  const format = new Intl.RelativeTimeFormat(localeOf(language), { numeric: 'always', style: 'narrow' });
  if (size < MINUTE_MS) return format.format(-Math.round(age / SECOND_MS), 'second');
  if (size < HOUR_MS) return format.format(-Math.round(age / MINUTE_MS), 'minute');
  return format.format(-Math.round(age / HOUR_MS), 'hour');
}

/** A date, such as "20 Nov"; with its year if that is not the year of `now`. */
function dateWithoutCurrentYear(at: Date, now: number, language: string): string {
  const year = formatOf('en', { year: 'numeric' });
  if (year.format(at) !== year.format(now)) return dateText(at, language);
  return formatOf(language, { day: 'numeric', month: 'short' }).format(at);
}

/** A date, such as "20 Nov 2026". */
export function dateText(at: Date, language: string): string {
  return formatOf(language, { day: 'numeric', month: 'short', year: 'numeric' }).format(at);
}

/** Formats a UTC day, "2026-11-20", as "20 Nov". */
export function utcDayText(day: string, language: string): string {
  const format = formatOf(language, { day: 'numeric', month: 'short', timeZone: 'UTC' });
  return format.format(new Date(`${day}T00:00:00Z`));
}

/** Formats a UTC day, "2026-11-20", as "20 Nov 2026". */
export function utcDateText(day: string, language: string): string {
  const format = formatOf(language, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
  return format.format(new Date(`${day}T00:00:00Z`));
}

/** Date, time and time zone, for tooltips. */
export function exactText(at: Date, language: string): string {
  return formatOf(language, { dateStyle: 'medium', timeStyle: 'long' }).format(at);
}

/** Date and time, such as "20 Nov 15:00", for rows of a log; optionally with seconds. */
export function stampText(at: Date, language: string, seconds = false): string {
  const clock = formatOf(language, {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(seconds && { second: '2-digit' }),
  }).format(at);
  const day = formatOf(language, { day: 'numeric', month: 'short' }).format(at);
  return `${day} ${clock}`;
}

/** A time relative to now, such as "34 s ago". The text changes while the page is open. */
export function Ago({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
    }, MINUTE_MS / 2);
    return () => {
      clearInterval(timer);
    };
  }, []);
  return <TimeElement at={at} format={(moment, language) => relative(moment, now, language)} />;
}

/** A date and time, such as "20 Nov 15:00"; optionally with seconds. */
export function Stamp({ at, seconds = false }: { at: string; seconds?: boolean }) {
  return (
    <TimeElement
      at={at}
      className="whitespace-nowrap"
      format={(moment, language) => stampText(moment, language, seconds)}
    />
  );
}

/** A date, such as "20 Nov 2026". */
export function Day({ at }: { at: string }) {
  return <TimeElement at={at} format={dateText} />;
}

/** A time of today as "15:00:27", any other time as "20 Nov 15:00". */
export function Clock({ at }: { at: string }) {
  return <TimeElement at={at} className="whitespace-nowrap" format={clockText} />;
}

function clockText(at: Date, language: string): string {
  const day = formatOf('en', { dateStyle: 'short' });
  if (day.format(at) !== day.format(new Date())) return stampText(at, language);
  return formatOf(language, { timeStyle: 'medium', hourCycle: 'h23' }).format(at);
}

interface TimeElementProps {
  /** ISO 8601. */
  at: string;
  className?: string;
  format: (at: Date, language: string) => string;
}

function TimeElement({ at, className, format }: TimeElementProps) {
  const { i18n } = useTranslation();
  useStore(zone);
  const { text, exact } = timeTexts(at, i18n.language, format);
  return (
    <time dateTime={at} title={exact} className={className}>
      {text}
    </time>
  );
}

/**
 * The text and the exact text of a time. An invalid time is shown unchanged, because one wrong value must not
 * prevent the rendering of a whole page; formats throw a RangeError for it.
 */
export function timeTexts(
  at: string,
  language: string,
  format: TimeElementProps['format'],
): { text: string; exact: string | undefined } {
  const moment = new Date(at);
  if (Number.isNaN(moment.getTime())) return { text: at, exact: undefined };
  return { text: format(moment, language), exact: exactText(moment, language) };
}
