/** Reading the values of a form. */

/** The text of a field as it was typed; empty where there is none. */
export function textIn(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === 'string' ? value : '';
}
