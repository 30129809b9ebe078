/** A state is an icon and a word; colour comes third. */
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
  /** For a sentence in place of the word: it breaks where there is no room. */
  breaks?: boolean;
}

/** The state of one thing: bare in tables, on its ground (chip) in heads. */
export function StateWord({ icon: Icon, word, tone, chip = false, breaks = false }: StateProps) {
  return (
    <span
      className={clsx(
        'inline-flex items-center gap-1.5 align-middle text-table',
        !breaks && 'whitespace-nowrap',
        TEXT[tone],
        chip && ['h-[22px] rounded-chip px-2', GROUND[tone]],
      )}
    >
      <Icon size={14} strokeWidth={1.75} className="flex-none" aria-hidden="true" />
      {word}
    </span>
  );
}
