/** The head of one step of a purchase. */
import type { ReactNode } from 'react';

interface StepHeadProps {
  number: number;
  word: string;
  children?: ReactNode;
}

/** The number and name of the step, with its state at the right. */
export function StepHead({ number, word, children }: StepHeadProps) {
  return (
    <div className="mb-2 flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
      <h3 className="font-semibold">
        <span className="mr-2">{number}</span>
        {word}
      </h3>
      {children}
    </div>
  );
}
