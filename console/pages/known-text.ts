/** Texts for kinds that the service names, of which a newer service may have more. */
import type { TFunction } from '../translation.ts';

/** The text of a key; undefined for a key without a text, as of a kind of a newer service. */
export function knownText(t: TFunction, ...[key, values]: Parameters<TFunction>): string | undefined {
  const text = t(key, values);
  return text === key ? undefined : text;
}
