/** The head of a chat: title, temporary switch, API call, and whether the chat is stored. */
import { clsx } from 'clsx';
import { Link } from '@tanstack/react-router';
import {
  Archive,
  Columns2,
  EyeOff,
  FileText,
  PanelLeft,
  SlidersHorizontal,
  SquarePen,
  Terminal,
} from 'lucide-react';
import { IconButton } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';
import type { ChatTool } from './chat-tools.tsx';

interface HeadProps {
  title: string;
  temporary: boolean;
  /** Undefined once the chat has messages, because it cannot be changed then. */
  onTemporary: ((on: boolean) => void) | undefined;
  /** How many settings are set. */
  settingCount: number;
  onTool: (tool: ChatTool) => void;
  /** Starts a comparison of models. */
  onCompare: () => void;
  /** Opens the list of chats; undefined if the list is visible or empty. */
  onChats: (() => void) | undefined;
  /** Starts a new chat; undefined if this chat is new. */
  onNew: (() => void) | undefined;
}

/** The title, and the actions on the whole chat. */
export function ChatHead({ title, temporary, onTemporary, onChats, onNew, ...tools }: HeadProps) {
  const { t } = useTranslation();
  return (
    <header className={HEAD}>
      {onChats && (
        <IconButton label={t('playground.openChats')} onClick={onChats}>
          <PanelLeft size={18} strokeWidth={1.75} />
        </IconButton>
      )}
      <h1 className="min-w-0 flex-1 basis-24 truncate font-semibold">{title || t('playground.untitled')}</h1>
      <label
        className={clsx(
          'flex flex-none items-center gap-2 text-table text-ink-2 touch:min-h-11',
          !onTemporary && !temporary && 'hidden',
        )}
      >
        <input
          type="checkbox"
          role="switch"
          className="switch"
          checked={temporary}
          disabled={!onTemporary}
          onChange={(event) => onTemporary?.(event.target.checked)}
        />
        {t('playground.temporary')}
      </label>
      <ToolButtons {...tools} />
      {onNew && (
        <IconButton label={t('playground.newChat')} onClick={onNew}>
          <SquarePen size={16} strokeWidth={1.75} />
        </IconButton>
      )}
    </header>
  );
}

function ToolButtons({
  settingCount,
  onTool,
  onCompare,
}: Pick<HeadProps, 'settingCount' | 'onTool' | 'onCompare'>) {
  const { t } = useTranslation();
  const tools = [
    {
      icon: SlidersHorizontal,
      word: t('playground.settingsOpen', { count: settingCount }),
      run: () => onTool('settings'),
    },
    { icon: FileText, word: t('playground.templates'), run: () => onTool('templates') },
    { icon: Columns2, word: t('playground.compare'), run: onCompare },
    { icon: Terminal, word: t('playground.apiCall'), run: () => onTool('call') },
  ];
  return (
    <div className="flex flex-none items-center gap-1 max-sm:gap-0">
      {tools.map(({ icon: Icon, word, run }) => (
        <button key={word} type="button" onClick={run} title={word} aria-label={word} className={QUIET}>
          <Icon size={16} strokeWidth={1.75} aria-hidden="true" />
        </button>
      ))}
      {settingCount > 0 && (
        <span className="text-table text-accent max-sm:hidden" aria-hidden="true">
          {t('playground.settingsSet', { count: settingCount })}
        </span>
      )}
    </div>
  );
}

const HEAD =
  'flex min-h-12 flex-none flex-wrap items-center gap-x-4 border-b border-line px-6 py-2 ' +
  'max-sm:gap-x-2 max-sm:px-3';
const QUIET =
  'flex size-7 flex-none items-center justify-center rounded-control text-ink-2 ' +
  'hover:bg-hover touch:size-11 max-sm:touch:w-9';

const BANNER =
  'flex flex-none items-center gap-3 border-b border-line bg-sunk px-6 py-2 text-table max-sm:px-4';

interface BannerProps {
  stored: boolean;
  temporary: boolean;
  /** How many of the four switches are on. */
  switchesOn: number;
}

/** Whether this chat is stored, and why. */
export function StorageBanner({ stored, temporary, switchesOn }: BannerProps) {
  const { t } = useTranslation();
  const Icon = stored ? Archive : EyeOff;
  return (
    <p className={BANNER}>
      <Icon size={16} strokeWidth={1.75} className="flex-none text-accent" aria-hidden="true" />
      <span className="min-w-0 flex-1">
        <strong className="font-semibold">
          {stored ? t('playground.stored') : t('playground.notStored')}
        </strong>
        {t('state.gap')}
        {stored
          ? t('playground.storedSentence', { count: switchesOn })
          : t(temporary ? 'playground.temporarySentence' : 'playground.notStoredSentence')}
      </span>
      <Link to="/profile/personal-intelligence" className="flex-none font-[550] text-accent touch:py-3">
        {t('playground.change')}
      </Link>
    </p>
  );
}
