/** A list of steps to set something up, each with what leads to it. */
import { CircleCheck, CircleDashed } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from '../../translation.ts';

interface StepProps {
  words: string;
  done: boolean;
  /** A button or link, shown until the step is done. */
  action: ReactNode;
}

/** The list, and how many of its steps are done. */
export function ChecklistCard({ steps }: { steps: readonly (StepProps & { id: string })[] }) {
  const { t } = useTranslation();
  const done = steps.filter((step) => step.done).length;
  return (
    <section className="rounded-card border border-line bg-raise p-5">
      <div className="mb-2 flex items-baseline justify-between gap-4">
        <h2 className="text-section">{t('checklist.title')}</h2>
        <span className="text-table text-ink-2">{t('checklist.progress', { done, all: steps.length })}</span>
      </div>
      <ol>
        {steps.map((step) => (
          <Step key={step.id} {...step} />
        ))}
      </ol>
    </section>
  );
}

function Step({ words, done, action }: StepProps) {
  const { t } = useTranslation();
  const Icon = done ? CircleCheck : CircleDashed;
  return (
    <li className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 border-t border-line py-1.5">
      <Icon
        size={16}
        strokeWidth={1.75}
        className={`flex-none ${done ? 'text-good' : 'text-ink-3'}`}
        aria-hidden="true"
      />
      <span className="sr-only">{done ? t('checklist.done') : t('checklist.open')}</span>
      <span className={`flex-1 basis-40 ${done ? 'text-ink-2' : 'font-[550]'}`}>{words}</span>
      {!done && action}
    </li>
  );
}
