/**
 * Menu buttons and filters. The popup is its own chunk, loaded when the pointer or the focus reaches the
 * button.
 */
import { clsx } from 'clsx';
import { ChevronDown, X } from 'lucide-react';
import {
  type ButtonHTMLAttributes,
  cloneElement,
  lazy,
  type ReactElement,
  type ReactNode,
  Suspense,
  useState,
} from 'react';
import { useTranslation } from '../translation.ts';
import type { MenuEntry } from './menu-entries.ts';

const load = () => import('./menu-popup.tsx');
const MenuPopup = lazy(async () => ({ default: (await load()).MenuPopup }));
const loadChoices = () => import('./choice-popup.tsx');
const ChoicePopup = lazy(async () => ({ default: (await loadChoices()).ChoicePopup }));

/** The state of a popup, and its button. */
export interface PopupState {
  open: boolean;
  anchor: HTMLElement | null;
  onOpenChange: (open: boolean) => void;
}

interface MenuProps {
  /** The button that opens the menu. */
  trigger: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>;
  entries: readonly MenuEntry[];
}

/** A button that opens a menu. */
export function Menu({ trigger, entries }: MenuProps) {
  const [first] = entries;
  const choices = first?.kind === 'choices' && first.searched ? first : undefined;
  if (!choices)
    return (
      <PopupButton trigger={trigger} kind="menu" prepare={load}>
        {(popup) => <MenuPopup {...popup} entries={entries} />}
      </PopupButton>
    );
  return (
    <PopupButton trigger={trigger} kind="dialog" prepare={loadChoices}>
      {(popup) => <ChoicePopup {...popup} choices={choices} />}
    </PopupButton>
  );
}

interface PopupButtonProps {
  trigger: MenuProps['trigger'];
  /** The role of the popup. */
  kind: 'menu' | 'dialog';
  /** Loads the popup. */
  prepare: () => Promise<unknown>;
  /** The popup, which may be lazy. It stays in the page after it was opened once. */
  children: (popup: PopupState) => ReactNode;
}

/** A button whose popup is loaded when the pointer or the focus reaches the button. */
export function PopupButton({ trigger, kind, prepare, children }: PopupButtonProps) {
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
          'aria-haspopup': kind,
          'aria-expanded': open,
          onClick: show,
          onPointerEnter: () => void prepare(),
          onFocus: () => void prepare(),
          onKeyDown: (event) => {
            if (event.key !== 'ArrowDown') return;
            event.preventDefault();
            show();
          },
        })}
      </span>
      {asked && <Suspense>{children({ open, anchor, onOpenChange: setOpen })}</Suspense>}
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
  /** Whether the options can be searched. */
  searched?: boolean;
}

const ANY = '';

/** A filter of a list. An active filter is highlighted and has a button that removes it. */
export function Filter<Value extends string>(props: FilterProps<Value>) {
  const { name, value, options, onChange, searched = false } = props;
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
        entries={[{ kind: 'choices', label: name, value: value ?? ANY, options: all, choose, searched }]}
      />
      {active && (
        <button
          type="button"
          aria-label={t('filter.remove', { name })}
          onClick={({ currentTarget }) => {
            // This button goes with the filter, so the focus moves to the button of the menu.
            currentTarget.parentElement?.querySelector('button')?.focus();
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
