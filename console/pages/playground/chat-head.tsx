/** The head of a chat: title, temporary switch, API call, and whether the chat is stored. */
import { clsx } from 'clsx';
import { Link } from '@tanstack/react-router';
import { Archive, EyeOff, PanelLeft, SquarePen, Terminal } from 'lucide-react';
import { IconButton } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';

interface HeadProps {
  title: string;
  temporary: boolean;
  /** Undefined once the chat has messages, because it cannot be changed then. */
  onTemporary: ((on: boolean) => void) | undefined;
  onApiCall: () => void;
  /** Opens the list of chats; undefined if the list is visible or empty. */
  onChats: (() => void) | undefined;
  /** Starts a new chat; undefined if this chat is new. */
  onNew: (() => void) | undefined;
}

/** The title, and the actions on the whole chat. */
export function ChatHead({ title, temporary, onTemporary, onApiCall, onChats, onNew }: HeadProps) {
  const { t } = useTranslation();
  return (
    <header className={HEAD}>
      {onChats && (
        <IconButton label={t('playground.openChats')} onClick={onChats}>
          <PanelLeft size={18} strokeWidth={1.75} />
        </IconButton>
      )}
      <h1 className="min-w-0 flex-1 truncate font-semibold">{title || t('playground.untitled')}</h1>
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
      <button type="button" onClick={onApiCall} aria-label={t('playground.apiCall')} className={QUIET}>
        <Terminal size={16} strokeWidth={1.75} aria-hidden="true" />
        <span className="max-lg:hidden">{t('playground.apiCall')}</span>
      </button>
      {onNew && (
        <IconButton label={t('playground.newChat')} onClick={onNew}>
          <SquarePen size={16} strokeWidth={1.75} />
        </IconButton>
      )}
    </header>
  );
}

const HEAD =
  'flex min-h-12 flex-none items-center gap-x-4 border-b border-line px-6 py-2 max-sm:gap-x-2 max-sm:px-3';
const QUIET =
  'flex min-h-7 flex-none items-center gap-2 rounded-control px-2 text-table text-ink-2 ' +
  'hover:bg-hover touch:min-h-11';

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
        </strong>{' '}
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
