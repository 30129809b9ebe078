/** Shows a state as an icon and a word; the colour is only additional. */
import { clsx } from 'clsx';
import type { LucideIcon } from 'lucide-react';

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'quiet';

const TEXT: Record<Tone, string> = {
  good: 'text-good',
  warn: 'text-warn',
  bad: 'text-bad',
  accent: 'text-accent',
  quiet: 'text-ink-2',
};
const GROUND: Record<Tone, string> = {
  good: 'bg-good-soft',
  warn: 'bg-warn-soft',
  bad: 'bg-bad-soft',
  accent: 'bg-accent-soft',
  quiet: 'bg-sunk',
};

interface StateProps {
  icon: LucideIcon;
  word: string;
  tone: Tone;
  chip?: boolean;
  /** Allows line breaks, for a sentence instead of a word. */
  breaks?: boolean;
}

/** A state. With `chip`, it has a background, for page heads. */
export function StateWord({ icon: Icon, word, tone, chip = false, breaks = false }: StateProps) {
  return (
    <span
      className={clsx(
        'inline-flex gap-1.5 align-middle text-table',
        breaks ? 'items-start [&>svg]:mt-[3px]' : 'items-center whitespace-nowrap',
        TEXT[tone],
        chip && ['h-[22px] rounded-chip px-2', GROUND[tone]],
      )}
    >
      <Icon size={14} strokeWidth={1.75} className="flex-none" aria-hidden="true" />
      {word}
    </span>
  );
}
