/** Choices in forms: a list and checkboxes. Native controls, so that keyboards and screen readers work. */
import { clsx } from 'clsx';
import { ChevronDown } from 'lucide-react';
import { type ComponentProps, useId } from 'react';
import { INPUT_FRAME } from './field.tsx';

interface Option {
  value: string;
  word: string;
}

/** A native select with the design's arrow. */
export function Select({ className, ...select }: ComponentProps<'select'>) {
  return (
    <span className="relative inline-flex max-w-full">
      <select {...select} className={clsx('field-sizing-content w-full appearance-none', className)} />
      <ChevronDown
        size={16}
        strokeWidth={1.75}
        className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 text-ink-2"
        aria-hidden="true"
      />
    </span>
  );
}

interface SelectProps extends ComponentProps<'select'> {
  label: string;
  options: readonly Option[];
}

/** A labelled select. */
export function SelectField({ label, options, ...select }: SelectProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-2">
      <label htmlFor={id} className="text-table font-[550]">
        {label}
      </label>
      <Select
        id={id}
        {...select}
        className={clsx('h-9 border-control pr-8 pl-3 text-ellipsis touch:h-11', INPUT_FRAME)}
      >
        {options.map(({ value, word }) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </Select>
    </div>
  );
}

interface ChecksProps {
  legend: string;
  /** The name of all boxes; the form yields their values together. */
  name: string;
  options: readonly Option[];
  checked: readonly string[];
}

/** A group of checkboxes with a legend. */
export function CheckField({ legend, name, options, checked }: ChecksProps) {
  return (
    <fieldset>
      <legend className="mb-2 text-table font-[550]">{legend}</legend>
      <div className="flex flex-wrap gap-x-5 gap-y-2">
        {options.map(({ value, word }) => (
          <label key={value} className="flex items-center gap-2 text-body touch:min-h-11">
            <input
              type="checkbox"
              className="checkbox"
              name={name}
              value={value}
              defaultChecked={checked.includes(value)}
            />
            {word}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
