/** A labelled multi-line text input. */
import { clsx } from 'clsx';
import { type ComponentProps, useId } from 'react';
import { INPUT_FRAME } from './field.tsx';

interface TextFieldProps extends ComponentProps<'textarea'> {
  label: string;
  /** Whether the text is plain sentences; otherwise the font has a fixed width. */
  prose?: boolean;
}

/** The input. Users can resize it vertically. */
export function TextField({ label, prose = false, ...input }: TextFieldProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-2">
      <label htmlFor={id} className="text-table font-[550]">
        {label}
      </label>
      <textarea id={id} {...input} className={clsx(LOOK, INPUT_FRAME, !prose && 'font-mono')} />
    </div>
  );
}

const LOOK = 'w-full resize-y border-control px-3 py-2 text-table outline-none';
