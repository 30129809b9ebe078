/** A duration in a table or list. */
import { useTranslation } from '../translation.ts';
import { useDurationText } from './duration.ts';

/** A duration in ms, or "None" if it is unknown. */
export function Duration({ milliseconds }: { milliseconds: number | null }) {
  const durationText = useDurationText();
  if (milliseconds === null) return <None />;
  return <span className="whitespace-nowrap text-ink-2">{durationText(milliseconds)}</span>;
}

/** In place of an unknown value. */
export function None() {
  const { t } = useTranslation();
  return <span className="text-ink-3">{t('state.none')}</span>;
}
