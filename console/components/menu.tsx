/** Menus: 248 wide, icon and word, groups by hairlines, the destructive item last. */
import { Menu as Base } from '@base-ui/react/menu';
import { clsx } from 'clsx';
import { Check, ChevronDown, type LucideIcon, X } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** A button that opens a menu; `trigger` is the button itself. */
export function Menu({ trigger, children }: { trigger: ReactElement; children: ReactNode }) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner align="end" sideOffset={4} className="z-50 outline-none">
          <Base.Popup className={POPUP}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

const POPUP =
  'floating max-h-(--available-height) w-[248px] overflow-y-auto max-w-[calc(100vw-16px)] ' +
  'rounded-card border border-line bg-raise p-1 shadow-float outline-none';
const ITEM =
  'flex min-h-8 w-full cursor-default items-center gap-3 ' +
  'rounded-control px-2.5 py-1.5 text-left text-table outline-none ' +
  'select-none data-highlighted:bg-hover touch:min-h-11';

interface ItemProps {
  icon: LucideIcon;
  word: string;
  /** A line under the word that states the effect. */
  effect?: string;
  destructive?: boolean;
  onSelect: () => void;
}

/** One action of a menu. */
export function MenuItem({ icon: Icon, word, effect, destructive = false, onSelect }: ItemProps) {
  return (
    <Base.Item onClick={onSelect} className={clsx(ITEM, destructive && 'text-bad')}>
      <Icon
        size={16}
        strokeWidth={1.75}
        aria-hidden="true"
        className={clsx('flex-none self-start mt-0.5', destructive ? 'text-bad' : 'text-ink-2')}
      />
      <span>
        {word}
        {effect !== undefined && <span className="block text-hint text-ink-3">{effect}</span>}
      </span>
    </Base.Item>
  );
}

/** A hairline between groups of a menu. */
export function MenuRule() {
  return <Base.Separator className="-mx-1 my-1 h-px bg-line" />;
}

interface ChoiceProps<Value extends string> {
  label: string;
  value: Value;
  options: readonly { value: Value; word: string }[];
  onChange: (value: Value) => void;
}

/** A group of exclusive choices inside a menu. */
export function MenuChoices<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <Base.RadioGroup
      value={value}
      onValueChange={(next: Value) => {
        onChange(next);
      }}>
      <Base.GroupLabel className="px-2.5 pt-1.5 pb-1 text-hint text-ink-3">{label}</Base.GroupLabel>
      {options.map((option) => (
        <Base.RadioItem key={option.value} value={option.value} closeOnClick className={ITEM}>
          <span className="flex size-4 flex-none items-center justify-center">
            <Base.RadioItemIndicator>
              <Check size={16} strokeWidth={1.75} className="text-accent" />
            </Base.RadioItemIndicator>
          </span>
          {option.word}
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  );
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
  return (
    <span
      className={clsx(
        'inline-flex h-7 flex-none items-stretch rounded-control border text-table touch:h-11',
        active ? 'border-accent bg-accent-soft' : 'border-line-strong bg-raise',
      )}>
      <Menu
        trigger={
          <button
            type="button"
            className={clsx('flex items-center gap-1.5 rounded-control pl-2.5', active ? 'pr-1.5' : 'pr-2')}>
            <span className="text-ink-2">{name}</span>
            <span className="font-[550] whitespace-nowrap">{chosen}</span>
            {!active && (
              <ChevronDown size={16} strokeWidth={1.75} className="text-ink-2" aria-hidden="true" />
            )}
          </button>
        }>
        <MenuChoices
          label={name}
          value={value ?? ANY}
          options={all}
          onChange={(next) => {
            onChange(options.find((option) => option.value === next)?.value);
          }}
        />
      </Menu>
      {active && (
        <button
          type="button"
          aria-label={t('filter.remove', { name })}
          onClick={() => {
            onChange(undefined);
          }}
          className="flex w-7 items-center justify-center rounded-control touch:w-11">
          <X size={16} strokeWidth={1.75} aria-hidden="true" />
        </button>
      )}
    </span>
  );
}
