/** Form inputs. Label above, hint or error below, linked for screen readers. */
import { clsx } from 'clsx';
import { CircleAlert } from 'lucide-react';
import { type ComponentProps, type ReactNode, useId, useState } from 'react';

interface FieldProps extends ComponentProps<'input'> {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** Shown inside before the text, such as a currency sign. */
  before?: ReactNode;
  /** Shown inside after the text, such as a unit or a button. */
  after?: ReactNode;
  /** The taller input of sign-in and register. */
  tall?: boolean;
}

/** A labelled text input. */
export function Field({ label, hint, error, before, after, tall = false, id, ...input }: FieldProps) {
  const made = useId();
  const name = id ?? made;
  const below = error !== undefined || hint !== undefined;
  return (
    <div className="flex flex-col gap-2">
      <label htmlFor={name} className="text-table font-[550]">
        {label}
      </label>
      <div
        className={clsx(
          'flex items-center gap-2 px-3 touch:h-11',
          INPUT_FRAME,
          frameOf(error),
          tall ? 'h-10' : 'h-9',
        )}
      >
        {before}
        <input
          id={name}
          aria-invalid={error !== undefined || undefined}
          aria-describedby={below ? `${name}-below` : undefined}
          {...input}
          className="h-full w-full min-w-0 bg-transparent outline-none"
        />
        {after}
      </div>
      {below && <Below id={`${name}-below`} error={error} hint={hint} />}
    </div>
  );
}

/** CSS classes of a text input's frame. Focus thickens the border inwards, so that nothing moves. */
export const INPUT_FRAME =
  'rounded-control border bg-page text-body focus-within:border-accent ' +
  'focus-within:shadow-[inset_0_0_0_1px_var(--accent)]';

/** CSS classes of a text input's border: thicker and red if there is an error. */
export function frameOf(error: string | undefined): string {
  return error === undefined ? 'border-control' : 'border-bad shadow-[inset_0_0_0_1px_var(--bad)]';
}

/** The line under an input: its error if there is one, otherwise its hint. */
export function Below({ id, error, hint }: { id: string; error?: string | undefined; hint?: ReactNode }) {
  if (error === undefined)
    return (
      <div id={id} className="text-hint text-ink-3">
        {hint}
      </div>
    );
  return (
    <div id={id} className="flex items-start gap-1.5 text-hint text-bad">
      <CircleAlert size={14} strokeWidth={1.75} className="mt-px flex-none" aria-hidden="true" />
      {error}
    </div>
  );
}

interface PasswordProps extends Omit<FieldProps, 'type' | 'after'> {
  words: { show: string; hide: string };
}

/** A password input with a button to show the password. */
export function PasswordField({ words, ...field }: PasswordProps) {
  const [shown, setShown] = useState(false);
  const toggle = (
    <button
      type="button"
      aria-pressed={shown}
      onClick={() => {
        setShown(!shown);
      }}
      className="flex-none rounded-tag text-table font-[550] text-accent touch:min-h-11"
    >
      {shown ? words.hide : words.show}
    </button>
  );
  return (
    <Field
      {...field}
      type={shown ? 'text' : 'password'}
      after={toggle}
      spellCheck={false}
      autoCapitalize="none"
    />
  );
}

/** A checkbox with its label; the whole line can be clicked. */
export function Checkbox({
  label,
  hint,
  ...input
}: ComponentProps<'input'> & { label: ReactNode; hint?: ReactNode }) {
  const id = useId();
  return (
    <div className="flex flex-col">
      <label className="flex items-center gap-2.5 text-body touch:min-h-11">
        <input
          type="checkbox"
          aria-describedby={hint === undefined ? undefined : id}
          {...input}
          className="checkbox"
        />
        <span>{label}</span>
      </label>
      {hint !== undefined && (
        <div id={id} className="pl-[26px] text-hint text-ink-3">
          {hint}
        </div>
      )}
    </div>
  );
}

interface SegmentedProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; word: ReactNode }[];
  onChange: (value: Value) => void;
  wide?: boolean;
}

/** Two to four exclusive choices side by side. A radio group, so that arrow keys work. */
export function Segmented<Value extends string>({
  label,
  value,
  options,
  onChange,
  wide,
}: SegmentedProps<Value>) {
  const name = useId();
  return (
    <div
      role="radiogroup"
      aria-label={label}
      className={clsx(
        'inline-flex flex-wrap rounded-control border border-line-strong bg-sunk p-0.5',
        wide && 'w-full',
      )}
    >
      {options.map((option) => (
        <label
          key={option.value}
          data-chosen={option.value === value || undefined}
          className={clsx(
            'flex h-7 cursor-pointer items-center justify-center ' +
              'gap-1.5 rounded-chip text-table whitespace-nowrap touch:h-10',
            'has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
            wide ? 'flex-1 px-1' : 'px-3',
            option.value === value
              ? 'bg-raise dark:bg-hover font-[550] text-ink shadow-[0_1px_2px_rgb(16_32_40/0.12)]'
              : 'text-ink-2',
          )}
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
  );
}
