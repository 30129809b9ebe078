/** The command palette and the list of shortcuts. Its own chunk, loaded when opened. */
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { CommandEmpty, CommandInput, CommandItem, CommandList, CommandRoot, defaultFilter } from 'cmdk';
import {
  type KeyboardEvent,
  memo,
  startTransition,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import { ActiveDescendant } from '../../components/active-descendant.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Checkbox, frameOf, INPUT_FRAME } from '../../components/field.tsx';
import { LeaderList, LeaderRow } from '../../components/leader-row.tsx';
import { setSingleKeys, singleKeys } from '../../components/shortcuts.ts';
import { useStore } from '../../components/store.ts';
import { useTranslation } from '../../translation.ts';
import { useFound } from './find.ts';
import { type Command, SEARCH, useAdminCommands, useCommands } from './palette-commands.ts';
import type { Viewer } from './viewer.ts';

interface PaletteProps {
  sheet: boolean;
  role: Viewer['role'];
  baseAddress: string;
  admin: boolean;
  onClose: () => void;
}

/** The dialog with the shortcuts or with the commands. */
export function Palette({ sheet, ...props }: PaletteProps) {
  return sheet ? <Sheet onClose={props.onClose} /> : <Commands {...props} />;
}

/**
 * Matches below this score only contain scattered letters; they are hidden, so that Enter does not run them.
 */
const RANK_MIN = 0.05;
/** The lowest score that is shown. */
const LEAST_RANK = Number.MIN_VALUE;

/** Keys that act on the list of commands. */
const LIST_KEYS = new Set(['Enter', 'ArrowDown', 'ArrowUp', 'Home', 'End']);

function Commands(props: Omit<PaletteProps, 'sheet'>) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  // The browser shows a typed character first. The commands follow, and never delay the next character.
  const [wanted, setWanted] = useState('');
  const [selected, setSelected] = useState('');
  const root = useRef<HTMLDivElement>(null);
  const type = (next: string) => {
    setText(next);
    startTransition(() => setWanted(next));
  };
  const catchUp = ({ key }: KeyboardEvent) => {
    if (wanted !== text && LIST_KEYS.has(key)) flushSync(() => setWanted(text));
  };
  return (
    <Dialog open onClose={props.onClose} title={t('palette.title')}>
      <CommandRoot
        ref={root}
        label={t('palette.title')}
        loop
        vimBindings={false}
        shouldFilter={false}
        value={selected}
        onValueChange={setSelected}
        onKeyDown={catchUp}
        className="relative"
      >
        {/* The dialog's title is the visible label; CommandRoot gives the input the same name. */}
        <CommandInput value={text} onValueChange={type} className={INPUT} />
        <CommandList label={t('palette.title')} className="mt-3 max-h-80 overflow-y-auto">
          <Options {...props} text={wanted} onFirst={setSelected} />
        </CommandList>
        <CommandEmpty className="text-ink-2">{t('state.nothingMatches')}</CommandEmpty>
        <ActiveDescendant id={selected} root={root} />
      </CommandRoot>
    </Dialog>
  );
}

interface OptionsProps extends Omit<PaletteProps, 'sheet'> {
  text: string;
  /** Called with the id of the first command after each change of the text. */
  onFirst: (id: string) => void;
}

/** The commands that match the text, the best first. */
const Options = memo(function Options({ text, onFirst, ...props }: OptionsProps) {
  const common = useCommands(props);
  const { places, searches } = useAdminCommands(text.trim());
  // Found things are only shown for a text.
  const found = useFound(text, props.role);
  const shown = text.trim() === '' ? [] : found;
  const commands = props.admin ? [...places, ...common, ...shown, ...searches] : [...common, ...shown];
  const ranked = rankedOf(commands, text);
  const first = ranked[0]?.id ?? '';
  const firstOf = useEffectEvent(() => onFirst(first));
  useLayoutEffect(() => firstOf(), [text]);
  const run = (command: Command) => {
    props.onClose();
    command.run();
  };
  return ranked.map((command) => <Option key={command.id} command={command} onRun={run} />);
});

interface OptionProps {
  command: Command;
  onRun: (command: Command) => void;
}

function Option({ command, onRun }: OptionProps) {
  const { id, word, icon: Icon, kind } = command;
  return (
    <CommandItem
      value={id}
      onSelect={() => {
        onRun(command);
      }}
      className={OPTION}
    >
      <Icon size={16} strokeWidth={1.75} className="flex-none text-ink-2" aria-hidden="true" />
      <span className="min-w-0 truncate">{word}</span>
      {kind !== undefined && <span className="ml-auto flex-none text-hint text-ink-3">{kind}</span>}
    </CommandItem>
  );
}

/** The commands that match, by their score. Without a text, all of them. */
function rankedOf(commands: readonly Command[], text: string): readonly Command[] {
  const wanted = text.trim();
  if (wanted === '') return commands;
  return commands
    .map((command) => ({ command, score: scoreOf(command, wanted) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ command }) => command);
}

/** The score of a command, 0 to hide it. Searches match every text, after all other commands. */
function scoreOf({ id, word, also = '' }: Command, wanted: string): number {
  if (id.startsWith(SEARCH)) return LEAST_RANK;
  const score = defaultFilter(word, wanted);
  if (score >= RANK_MIN) return score;
  return also.toLowerCase().includes(wanted.toLowerCase()) ? RANK_MIN : 0;
}

const INPUT = clsx('h-9 w-full px-3 outline-none touch:h-11', INPUT_FRAME, frameOf(undefined));
const OPTION =
  'flex min-h-9 cursor-default items-center gap-3 rounded-control px-2.5 text-table ' +
  'data-[selected=true]:bg-hover touch:min-h-11';

function Sheet({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const single = useStore(singleKeys);
  const keys = { palette: 'Ctrl K', search: '/', sheet: '?', close: 'Esc', days: '← →' } as const;
  const names = ['palette', 'search', 'sheet', 'close', 'days'] as const;
  return (
    <Dialog open onClose={onClose} title={t('palette.shortcuts')}>
      <LeaderList>
        {names.map((name) => (
          <LeaderRow key={name} name={t(`palette.actions.${name}`)}>
            <kbd>{keys[name]}</kbd>
          </LeaderRow>
        ))}
      </LeaderList>
      <Link to="/help" onClick={onClose} className="mt-4 inline-block text-accent underline">
        {t('shell.help')}
      </Link>
      <div className="mt-5">
        <Checkbox
          label={t('palette.single')}
          checked={single}
          onChange={(event) => {
            setSingleKeys(event.target.checked);
          }}
        />
      </div>
    </Dialog>
  );
}
