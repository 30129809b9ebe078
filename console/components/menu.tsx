/**
 * Menus as data: the button stands at once, what opens from it is a chunk of its own that loads on the first
 * sign of interest.
 */
import { clsx } from 'clsx';
import { ChevronDown, type LucideIcon, X } from 'lucide-react';
import { type ButtonHTMLAttributes, cloneElement, lazy, type ReactElement, Suspense, useState } from 'react';
import { useTranslation } from '../translation.ts';

const load = () => import('./menu-popup.tsx');
const MenuPopup = lazy(async () => ({ default: (await load()).MenuPopup }));

export interface MenuAction {
  kind: 'action';
  icon: LucideIcon;
  word: string;
  /** A line under the word that states the effect. */
  effect?: string;
  destructive?: boolean;
  run: () => void;
}

/** A group of exclusive choices inside a menu. */
export interface MenuChoices {
  kind: 'choices';
  label: string;
  value: string;
  options: readonly { value: string; word: string }[];
  choose: (value: string) => void;
}

/** One part of a menu: an action, a group of choices, a hairline between groups, a line of text. */
export type MenuEntry = MenuAction | MenuChoices | { kind: 'rule' } | { kind: 'note'; text: string };

/** A hairline between groups of a menu. */
export const RULE: MenuEntry = { kind: 'rule' };

interface MenuProps {
  /** The button itself. */
  trigger: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>;
  entries: readonly MenuEntry[];
}

/** A button that opens a menu. */
export function Menu({ trigger, entries }: MenuProps) {
  const [asked, setAsked] = useState(false);
  const [open, setOpen] = useState(false);
  const [anchor, setAnchor] = useState<HTMLElement | null>(null);
  const show = () => {
    setAsked(true);
    setOpen(true);
  };
  return (
    <>
      <span className="contents" ref={(place) => setAnchor(firstElement(place))}>
        {cloneElement(trigger, {
          'aria-haspopup': 'menu',
          'aria-expanded': open,
          onClick: show,
          onPointerEnter: () => void load(),
          onFocus: () => void load(),
          onKeyDown: (event) => {
            if (event.key !== 'ArrowDown') return;
            event.preventDefault();
            show();
          },
        })}
      </span>
      {asked && (
        <Suspense>
          <MenuPopup open={open} onOpenChange={setOpen} anchor={anchor} entries={entries} />
        </Suspense>
      )}
    </>
  );
}

function firstElement(place: HTMLElement | null): HTMLElement | null {
  const first = place?.firstElementChild;
  return first instanceof HTMLElement ? first : null;
}

interface FilterProps<Value extends string> {
  name: string;
  value: Value | undefined;
  options: readonly { value: Value; word: string }[];
  onChange: (value: Value | undefined) => void;
}

const ANY = '';

/** A filter: "State Any ⌄"; an active one is a chip in the accent ground with a cross. */
export function Filter<Value extends string>({ name, value, options, onChange }: FilterProps<Value>) {
  const { t } = useTranslation();
  const active = value !== undefined;
  const chosen = options.find((option) => option.value === value)?.word ?? t('filter.any');
  const all = [{ value: ANY, word: t('filter.any') }, ...options];
  const choose = (next: string) => {
    onChange(options.find((option) => option.value === next)?.value);
  };
  return (
    <span
      className={clsx(
        'inline-flex h-7 flex-none items-stretch rounded-control border text-table touch:h-11',
        active ? 'border-accent bg-accent-soft' : 'border-line-strong bg-raise',
      )}
    >
      <Menu
        trigger={
          <button
            type="button"
            className={clsx('flex items-center gap-1.5 rounded-control pl-2.5', active ? 'pr-1.5' : 'pr-2')}
          >
            <span className="text-ink-2">{name}</span>
            <span className="font-[550] whitespace-nowrap">{chosen}</span>
            {!active && (
              <ChevronDown size={16} strokeWidth={1.75} className="text-ink-2" aria-hidden="true" />
            )}
          </button>
        }
        entries={[{ kind: 'choices', label: name, value: value ?? ANY, options: all, choose }]}
      />
      {active && (
        <button
          type="button"
          aria-label={t('filter.remove', { name })}
          onClick={() => {
            onChange(undefined);
          }}
          className="flex w-7 items-center justify-center rounded-control touch:w-11"
        >
          <X size={16} strokeWidth={1.75} aria-hidden="true" />
        </button>
      )}
    </span>
  );
}
