/** Reading the values of a form. */

/** The text of a field as it was typed; empty where there is none. */
export function textIn(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === 'string' ? value : '';
}

/** The end of a day, YYYY-MM-DD, in UTC; undefined where no day is named. */
export function endOfDay(day: string): Date | undefined {
  return day === '' ? undefined : new Date(`${day}T23:59:59.999Z`);
}

/** The day of a moment in UTC as a field of type date takes it; empty without one. */
export function dayOf(at: string | null | undefined): string {
  return at?.slice(0, DAY_CHARACTERS) ?? '';
}

const DAY_CHARACTERS = 10;
