/** A labelled multi-line text input. */
import { type ComponentProps, useId } from 'react';
import { INPUT_FRAME } from './field.tsx';

/** The input. Users can resize it vertically. */
export function TextField({ label, ...input }: ComponentProps<'textarea'> & { label: string }) {
  const id = useId();
  return (
    <div className="flex flex-col gap-2">
      <label htmlFor={id} className="text-table font-[550]">
        {label}
      </label>
      <textarea id={id} {...input} className={`${LOOK} ${INPUT_FRAME}`} />
    </div>
  );
}

const LOOK = 'w-full resize-y border-control px-3 py-2 font-mono text-table outline-none';
