import { afterEach, expect, it } from 'vitest';
import {
  dateText,
  exactText,
  formatOf,
  relative,
  setTimeZone,
  stampText,
  timeTexts,
  utcDayText,
} from './time.tsx';

const NEW_YEAR = new Date('2026-12-31T12:30:05Z');

afterEach(() => setTimeZone(undefined));

it('every written time follows the zone of the profile', () => {
  setTimeZone('Pacific/Auckland');
  expect(dateText(NEW_YEAR, 'en')).toBe('1 Jan 2027');
  expect(stampText(NEW_YEAR, 'en', true)).toBe('1 Jan 01:30:05');
  expect(exactText(NEW_YEAR, 'en')).toMatch(/^1 Jan 2027, 01:30:05 (GMT\+13|NZDT)$/);
  setTimeZone('America/New_York');
  expect(stampText(NEW_YEAR, 'en')).toBe('31 Dec 07:30');
});

it('the zone of the profile also decides whether a date shows its year', () => {
  const later = new Date('2027-03-01T00:00:00Z').getTime();
  setTimeZone('Pacific/Auckland');
  expect(relative(NEW_YEAR, later, 'en')).toBe('1 Jan');
  setTimeZone('UTC');
  expect(relative(NEW_YEAR, later, 'en')).toBe('31 Dec 2026');
});

it('a format is made once for each language and zone', () => {
  const year = () => formatOf('en', { year: 'numeric' });
  setTimeZone('Pacific/Auckland');
  const first = year();
  expect(year()).toBe(first);
  setTimeZone('UTC');
  expect(year().format(NEW_YEAR)).toBe('2026');
  expect(formatOf('zh-CN', { year: 'numeric' })).not.toBe(year());
});

it('a day of the calendar of the service stays the same in every zone', () => {
  setTimeZone('America/New_York');
  expect(utcDayText('2026-11-20', 'en')).toBe('20 Nov');
});

it('an invalid time is shown unchanged and without a tooltip', () => {
  expect(timeTexts('soon', 'en', stampText)).toEqual({ text: 'soon', exact: undefined });
});

it('a valid time has its exact time as tooltip', () => {
  setTimeZone('UTC');
  expect(timeTexts('2026-12-31T12:30:05Z', 'en', dateText)).toEqual({
    text: '31 Dec 2026',
    exact: exactText(NEW_YEAR, 'en'),
  });
});

it('a zone that the browser does not know leaves the zone of the device', () => {
  setTimeZone('UTC');
  setTimeZone('Mars/Olympus');
  expect(dateText(NEW_YEAR, 'en')).toMatch(/2026|2027/);
});
