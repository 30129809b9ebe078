/** Reads values of forms. */

/** The text of a field as typed; empty if there is no such field. */
export function textIn(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === 'string' ? value : '';
}

/** The addresses of a text that separates them by commas or spaces. */
export function addressesIn(text: string): string[] {
  return text.split(/[\s,]+/).filter((address) => address !== '');
}

/** The end of a day (YYYY-MM-DD) in UTC; undefined for an empty text. */
export function endOfDay(day: string): Date | undefined {
  return day === '' ? undefined : new Date(`${day}T23:59:59.999Z`);
}

/** The UTC day of a time, for a date input; empty if there is no time. */
export function dayOf(at: string | null | undefined): string {
  return at?.slice(0, DAY_CHARACTERS) ?? '';
}

const DAY_CHARACTERS = 10;
