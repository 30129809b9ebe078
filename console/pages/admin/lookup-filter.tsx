/** A filter of a list by one object, which is chosen by its name. */
import { clsx } from 'clsx';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { INPUT_FRAME } from '../../components/field.tsx';
import { Filter } from '../../components/menu.tsx';

const PAUSE_MS = 250;

/** One object to choose. */
export interface LookupChoice {
  /** The id of the object. */
  value: string;
  /** The name, without another object of the same name in the list. */
  word: string;
}

/** The objects that match a text. */
export interface Lookup {
  choices: readonly LookupChoice[];
  /** Whether they still match an earlier text. */
  fetching: boolean;
}

interface LookupFilterProps {
  /** The relation of the object to the rows, e.g. "User" or "Actor". */
  name: string;
  /** By what the object is found, e.g. "E-mail address". */
  hint: string;
  /** The name of the input for screen readers. */
  label: string;
  /** The id of the chosen object. */
  value: string | undefined;
  /** The name of the chosen object; the id while the name is unknown. */
  chosen: string | undefined;
  /** A hook that finds the objects. It is called with an empty text, too. */
  useLookup: (text: string) => Lookup;
  onChange: (value: string | undefined) => void;
}

/**
 * The filter: an input that proposes names, or the chosen name with a button that removes the filter. The
 * focus follows from one to the other.
 */
export function LookupFilter({ name, value, chosen, onChange, ...search }: LookupFilterProps) {
  return (
    <FocusKept of={value}>
      {value === undefined ? (
        <Choice name={name} onChange={onChange} {...search} />
      ) : (
        <Filter name={name} value={value} options={[{ value, word: chosen ?? value }]} onChange={onChange} />
      )}
    </FocusKept>
  );
}

/** After the value changes, focuses the new control if the former one had the focus. */
function FocusKept({ of, children }: { of: string | undefined; children: ReactNode }) {
  const place = useRef<HTMLSpanElement>(null);
  const shown = useRef(of);
  const hadFocus = useRef(false);
  useEffect(() => {
    if (of === shown.current) return;
    shown.current = of;
    if (hadFocus.current) place.current?.querySelector<HTMLElement>('input, button')?.focus();
  }, [of]);
  return (
    <span
      ref={place}
      className="contents"
      onFocus={() => {
        hadFocus.current = true;
      }}
      onBlur={() => {
        hadFocus.current = false;
      }}
    >
      {children}
    </span>
  );
}

type ChoiceProps = Pick<LookupFilterProps, 'name' | 'hint' | 'label' | 'useLookup' | 'onChange'>;

function Choice({ name, hint, label, useLookup, onChange }: ChoiceProps) {
  const list = useId();
  const [text, setText] = useState('');
  const search = usePaused(text.trim());
  const { choices, fetching } = useLookup(search);
  // While it waits for an answer, the list has the objects of the former text.
  const isCurrent = !fetching && search === text.trim();
  const exact = choices.find(({ word }) => word.toLowerCase() === search.toLowerCase())?.value;
  useEffect(() => {
    if (exact !== undefined) onChange(exact);
    // A typed name chooses its object once.
  }, [exact]);
  return (
    <form
      className={clsx(FRAME, INPUT_FRAME)}
      onSubmit={(event) => {
        event.preventDefault();
        const [first] = choices;
        if (first && search !== '' && isCurrent) onChange(first.value);
      }}
    >
      <span className="flex-none text-table text-ink-2" aria-hidden="true">
        {name}
      </span>
      <input
        type="search"
        list={list}
        aria-label={label}
        placeholder={hint}
        value={text}
        autoComplete="off"
        className="h-full w-full min-w-0 appearance-none bg-transparent text-table outline-none"
        onChange={({ target }) => {
          setText(target.value);
          const taken = choices.find(({ word }) => word === target.value);
          if (taken) onChange(taken.value);
        }}
      />
      <datalist id={list}>
        {choices.map(({ value, word }) => (
          <option key={value} value={word} />
        ))}
      </datalist>
    </form>
  );
}

/** The name in the word of a choice, such as "Atlas" in "Atlas, atlas-2 (pool)". */
export function nameIn(word: string): string {
  return word.split(/ \(| …|, /, 1)[0] ?? word;
}

const FRAME = 'flex h-8 w-[248px] items-center gap-2 border-control px-2.5 max-sm:w-full touch:h-11';

/** The text once it has not changed for a moment. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      setPaused(text);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  return paused;
}
