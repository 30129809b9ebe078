/** The notice about learned items, with Undo. */
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { Lightbulb, X } from 'lucide-react';
import { Button, buttonClass, IconButton } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';
import type { Learned } from './learned-documents.ts';
import { useLearnedActions } from './use-learned-actions.ts';

/** Characters of an item that name it in a label. */
const NAME_CHARACTERS = 60;

interface Line {
  id: string;
  /** The text of the item. */
  name: string;
  /** Says whether it is new or changed. */
  sentence: string;
}

interface NoticeProps {
  learned: readonly Learned[];
  lines: readonly Line[];
  /** Text with the number of items without a line; empty for none. */
  more: string;
  linked: boolean;
  className: string;
  refresh: () => void;
  /** Keeps the focus in the place of the notice when a button disappears. */
  keepFocus: () => void;
}

/** The notice. */
export function LearnedNotice(props: NoticeProps) {
  const { learned, lines, more, linked, className, refresh, keepFocus } = props;
  const { t } = useTranslation();
  const { undo, dismiss } = useLearnedActions(learned, refresh);
  return (
    <section aria-label={t('items.learnedTitle')} className={clsx(BOX, className)}>
      <ul className="min-w-0 flex-1">
        {lines.map((line) => (
          <LineRow
            key={line.id}
            line={line}
            onUndo={() => {
              keepFocus();
              void undo(line.id);
            }}
          />
        ))}
        {more !== '' && <li className="text-hint text-ink-3 sm:pl-7">{more}</li>}
      </ul>
      <div className="flex flex-none items-center py-0.5 max-sm:flex-col-reverse">
        {linked && (
          <Link to="/profile/personal-intelligence" aria-label={t('items.openAll')} className={OPEN}>
            {t('items.open')}
          </Link>
        )}
        <IconButton
          label={t('items.dismiss')}
          onClick={() => {
            keepFocus();
            void dismiss();
          }}
        >
          <X size={16} strokeWidth={1.75} />
        </IconButton>
      </div>
    </section>
  );
}

function LineRow({ line: { name, sentence }, onUndo }: { line: Line; onUndo: () => void }) {
  const { t } = useTranslation();
  const label = t('items.undoOf', { text: name.slice(0, NAME_CHARACTERS) });
  return (
    <li className="flex items-center gap-3 py-0.5">
      <Lightbulb
        size={16}
        strokeWidth={1.75}
        className="flex-none text-accent max-sm:hidden"
        aria-hidden="true"
      />
      <span className={TEXT} title={name}>
        {sentence}
      </span>
      <Button size="small" variant="ghost" aria-label={label} onClick={onUndo}>
        {t('items.undo')}
      </Button>
    </li>
  );
}

const BOX = 'flex items-start gap-1 rounded-card border border-line bg-raise py-1 pr-1.5 pl-4 text-table';
const TEXT = 'min-w-0 flex-1 truncate max-sm:line-clamp-2 max-sm:whitespace-normal';
const OPEN = buttonClass({ variant: 'ghost', size: 'small' });
