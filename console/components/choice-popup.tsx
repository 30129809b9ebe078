/**
 * The popup of a long list of choices, with a search field; below the `sm` breakpoint a bottom sheet. Loaded
 * on demand, as a chunk.
 */
import { Popover as Base } from '@base-ui/react/popover';
import { clsx } from 'clsx';
import { CommandEmpty, CommandInput, CommandItem, CommandList, CommandRoot } from 'cmdk';
import { Check } from 'lucide-react';
import { useRef, useState } from 'react';
import { useTranslation } from '../translation.ts';
import { ActiveDescendant } from './active-descendant.ts';
import { frameOf, INPUT_FRAME } from './field.tsx';
import { focusAfter } from './focus.ts';
import type { MenuChoices } from './menu-entries.ts';
import { Choice, containerFor, POPUP, POSITIONER } from './menu-parts.tsx';
import { decimalsOf } from './money.tsx';

interface ChoicePopupProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The button that opened the popup; it gets the focus back. */
  anchor: HTMLElement | null;
  choices: MenuChoices;
}

/** The popup. Arrow keys move the highlight, Enter chooses. Escape, or a press outside, closes the popup. */
export function ChoicePopup({ open, onOpenChange, anchor, choices }: ChoicePopupProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal {...containerFor(anchor)}>
        <Base.Backdrop className="floating fixed inset-0 z-40 bg-(--scrim) sm:hidden" />
        <Base.Positioner anchor={anchor} align="end" sideOffset={4} className={POSITIONER}>
          <Base.Popup
            aria-label={choices.label}
            ref={popup}
            finalFocus={() => focusAfter(popup.current, anchor)}
            className={clsx(POPUP, 'flex flex-col sm:w-[360px]')}
          >
            <List {...choices} onClose={() => onOpenChange(false)} />
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

function List({ label, value, options, choose, onClose }: MenuChoices & { onClose: () => void }) {
  const { t } = useTranslation();
  const [selected, setSelected] = useState(idOf(value));
  const root = useRef<HTMLDivElement>(null);
  const decimals = decimalsOf(options.flatMap(({ amount }) => amount ?? []));
  return (
    <CommandRoot
      ref={root}
      label={label}
      loop
      vimBindings={false}
      filter={rank}
      value={selected}
      onValueChange={setSelected}
      className="flex min-h-0 flex-col"
    >
      <CommandInput autoFocus placeholder={t('filter.search')} className={INPUT} />
      <CommandList label={label} className="mt-1 max-h-80 min-h-0 overflow-y-auto">
        {options.map((option) => (
          <CommandItem
            key={option.value}
            value={idOf(option.value)}
            keywords={[option.word, option.detail ?? '']}
            className={ITEM}
            onSelect={() => {
              onClose();
              choose(option.value);
            }}
          >
            <span className="flex size-4 flex-none items-center justify-center">
              {option.value === value && (
                <Check size={16} strokeWidth={1.75} className="text-accent" aria-hidden="true" />
              )}
            </span>
            <Choice {...option} decimals={decimals} />
          </CommandItem>
        ))}
      </CommandList>
      <CommandEmpty className="px-2.5 py-2 text-table text-ink-2">{t('state.nothingMatches')}</CommandEmpty>
      <ActiveDescendant id={selected} root={root} />
    </CommandRoot>
  );
}

/** The library ignores an empty value. */
const idOf = (value: string): string => `=${value}`;

const EQUAL = 1;
const BEGINS = 0.9;
const CONTAINS = 0.8;
const DESCRIBED = 0.5;

/**
 * The score of a choice: a name that equals the text is first, then names that begin with it, names that
 * contain it, and choices whose description has all of its words. 0 hides the choice.
 */
function rank(_value: string, text: string, [word = '', detail = '']: readonly string[] = []): number {
  const wanted = text.trim().toLowerCase();
  const name = word.toLowerCase();
  if (name === wanted) return EQUAL;
  if (name.startsWith(wanted)) return BEGINS;
  if (name.includes(wanted)) return CONTAINS;
  const all = `${name} ${detail.toLowerCase()}`;
  return wanted.split(/\s+/).every((part) => all.includes(part)) ? DESCRIBED : 0;
}

const INPUT = clsx(
  'h-8 w-full flex-none px-2.5 text-table outline-none touch:h-11',
  INPUT_FRAME,
  frameOf(undefined),
);
const ITEM =
  'flex min-h-8 w-full cursor-default items-center gap-3 rounded-control px-2.5 py-1.5 text-left ' +
  'text-table select-none data-[selected=true]:bg-hover touch:min-h-11';
