/** Choices in forms: one of a list, several of a few. Native, so every keyboard and reader knows them. */
import { type ComponentProps, useId } from 'react';
import { INPUT_FRAME } from './field.tsx';

interface Option {
  value: string;
  word: string;
}

interface SelectProps extends ComponentProps<'select'> {
  label: string;
  options: readonly Option[];
}

/** A labelled list to choose one from. */
export function SelectField({ label, options, ...select }: SelectProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-2">
      <label htmlFor={id} className="text-table font-[550]">
        {label}
      </label>
      <select id={id} {...select} className={`h-9 w-full border-control px-2.5 touch:h-11 ${INPUT_FRAME}`}>
        {options.map(({ value, word }) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
      </select>
    </div>
  );
}

interface ChecksProps {
  legend: string;
  /** All boxes have this name, so a form yields their values together. */
  name: string;
  options: readonly Option[];
  checked: readonly string[];
}

/** Boxes for several of a few. */
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
