/** Durations as text. */
import { useTranslation } from '../translation.ts';

const SECOND_MS = 1_000;

/**
 * Returns a function that writes a duration in ms: "<1 ms" for zero, which is rounded, "340 ms" below one
 * second, and "1.2 s" from there on.
 */
export function useDurationText(): (milliseconds: number) => string {
  const { t } = useTranslation();
  return (milliseconds) =>
    milliseconds < SECOND_MS
      ? t('state.milliseconds', { value: milliseconds === 0 ? '<1' : milliseconds })
      : t('state.seconds', { value: (milliseconds / SECOND_MS).toFixed(1) });
}
