/** Durations as text. */
import { useTranslation } from '../translation.ts';

const SECOND_MS = 1_000;
/** From here on, tenths of a second are left out. */
const LONG_MS = 100_000;

/**
 * Returns a function that writes a duration in ms: "<1 ms" for zero, which is rounded, "340 ms" below one
 * second, "1.2 s" from there on, and "300 s" from 100 seconds on.
 */
export function useDurationText(): (milliseconds: number) => string {
  const { t } = useTranslation();
  return (milliseconds) =>
    milliseconds < SECOND_MS
      ? t('state.milliseconds', { value: milliseconds === 0 ? '<1' : milliseconds })
      : t('state.seconds', { value: (milliseconds / SECOND_MS).toFixed(milliseconds < LONG_MS ? 1 : 0) });
}
