/** A choice among many: chips in groups, which wrap. */
import { clsx } from 'clsx';
import { useId } from 'react';

export interface PickerGroup {
  title: string;
  options: readonly { value: string; word: string }[];
}

interface PickerProps {
  label: string;
  groups: readonly PickerGroup[];
  value: string;
  onChange: (value: string) => void;
}

/** The chips. They are radio buttons of one group, so that arrow keys reach all of them. */
export function Picker({ label, groups, value, onChange }: PickerProps) {
  const name = useId();
  return (
    <div role="radiogroup" aria-label={label} className="flex flex-wrap gap-x-8 gap-y-4">
      {groups.map(({ title, options }) => (
        <div key={title} role="group" aria-label={title} className="min-w-0">
          <div className="mb-2 text-hint text-ink-3" aria-hidden="true">
            {title}
          </div>
          <div className="flex flex-wrap gap-2">
            {options.map((option) => (
              <label
                key={option.value}
                data-chosen={option.value === value || undefined}
                className={clsx(CHIP, option.value === value ? CHOSEN : OTHER)}
              >
                <input
                  type="radio"
                  name={name}
                  value={option.value}
                  checked={option.value === value}
                  className="sr-only"
                  onChange={() => {
                    onChange(option.value);
                  }}
                />
                {option.word}
              </label>
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}

const CHIP =
  'relative flex h-8 cursor-pointer items-center rounded-control border px-3 text-table touch:h-11 ' +
  'has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent';
const CHOSEN = 'border-accent bg-accent-soft font-[550] text-accent';
const OTHER = 'border-line-strong bg-raise hover:bg-hover';
