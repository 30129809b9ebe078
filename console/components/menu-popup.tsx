/**
 * The popup of a menu, 248 px wide, or 320 px for choices with details; below the `sm` breakpoint a bottom
 * sheet. Loaded on demand, as a chunk.
 */
import { Menu as Base } from '@base-ui/react/menu';
import { clsx } from 'clsx';
import { Check } from 'lucide-react';
import { useRef } from 'react';
import { focusAfter } from './focus.ts';
import type { MenuAction, MenuChoices, MenuEntry, MenuSwitch } from './menu-entries.ts';
import { Choice, containerFor, POPUP, POSITIONER } from './menu-parts.tsx';
import { decimalsOf } from './money.tsx';

interface MenuPopupProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The button that opened the menu; it gets the focus back. */
  anchor: HTMLElement | null;
  entries: readonly MenuEntry[];
}

/** The popup. Arrow keys move the highlight. Escape, or a press outside, closes the popup. */
export function MenuPopup({ open, onOpenChange, anchor, entries }: MenuPopupProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal {...containerFor(anchor)}>
        <Base.Backdrop className="floating fixed inset-0 z-40 bg-(--scrim) sm:hidden" />
        <Base.Positioner anchor={anchor} align="end" sideOffset={4} className={POSITIONER}>
          <Base.Popup
            ref={popup}
            finalFocus={() => focusAfter(popup.current, anchor)}
            className={clsx(POPUP, 'overflow-y-auto', isDetailed(entries) ? 'sm:w-[320px]' : 'sm:w-[248px]')}
          >
            {entries.map((entry, index) => (
              <Entry key={index} entry={entry} />
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** Whether a choice has more than its name. */
function isDetailed(entries: readonly MenuEntry[]): boolean {
  return entries.some(
    (entry) => entry.kind === 'choices' && entry.options.some(({ detail }) => detail !== undefined),
  );
}

const ITEM =
  'flex min-h-8 w-full cursor-default items-center gap-3 ' +
  'rounded-control px-2.5 py-1.5 text-left text-table outline-none ' +
  'select-none data-highlighted:bg-hover touch:min-h-11';

function Entry({ entry }: { entry: MenuEntry }) {
  switch (entry.kind) {
    case 'action':
      return <Action {...entry} />;
    case 'choices':
      return <Choices {...entry} />;
    case 'switch':
      return <Switch {...entry} />;
    case 'separator':
      return <Base.Separator className="-mx-1 my-1 h-px bg-line" />;
    case 'note':
      return <div className="truncate px-2.5 py-2 text-hint text-ink-3">{entry.text}</div>;
  }
}

function Action({ icon: Icon, word, effect, destructive = false, run }: MenuAction) {
  return (
    <Base.Item onClick={run} className={clsx(ITEM, destructive && 'text-bad')}>
      <Icon
        size={16}
        strokeWidth={1.75}
        aria-hidden="true"
        className={clsx(
          'flex-none',
          effect !== undefined && 'mt-0.5 self-start',
          destructive ? 'text-bad' : 'text-ink-2',
        )}
      />
      <span>
        {word}
        {effect !== undefined && <span className="block text-hint text-ink-3">{effect}</span>}
      </span>
    </Base.Item>
  );
}

function Switch({ word, on, fixed, change }: MenuSwitch) {
  return (
    <Base.CheckboxItem
      checked={on}
      disabled={fixed}
      onCheckedChange={change}
      closeOnClick={false}
      className={clsx(ITEM, fixed && 'text-ink-3')}
    >
      <span className="flex size-4 flex-none items-center justify-center">
        <Base.CheckboxItemIndicator>
          <Check size={16} strokeWidth={1.75} className="text-accent" />
        </Base.CheckboxItemIndicator>
      </span>
      {word}
    </Base.CheckboxItem>
  );
}

function Choices({ label, value, options, choose }: MenuChoices) {
  const decimals = decimalsOf(options.flatMap(({ amount }) => amount ?? []));
  return (
    <Base.RadioGroup value={value} onValueChange={choose}>
      <Base.GroupLabel className="px-2.5 pt-1.5 pb-1 text-hint text-ink-3">{label}</Base.GroupLabel>
      {options.map((option) => (
        <Base.RadioItem key={option.value} value={option.value} closeOnClick className={ITEM}>
          <span className="flex size-4 flex-none items-center justify-center">
            <Base.RadioItemIndicator>
              <Check size={16} strokeWidth={1.75} className="text-accent" />
            </Base.RadioItemIndicator>
          </span>
          <Choice {...option} decimals={decimals} />
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  );
}
