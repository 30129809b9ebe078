/** What changed between two texts, line by line; a sign stands before each line, colour comes second. */
import { clsx } from 'clsx';
import { useTranslation } from 'react-i18next';
import { type DiffLine, diffLines } from './diff-lines.ts';

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', gone: '−', new: '+' };
const LOOKS: Record<DiffLine['kind'], string> = {
  same: 'text-ink-2',
  gone: 'bg-bad-soft text-bad',
  new: 'bg-good-soft text-good',
};

/** The lines; those that stayed are shown only next to a change. */
export function LineDiff({ before, after }: { before: string; after: string }) {
  const { t } = useTranslation();
  const lines = diffLines(before, after);
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - 1), index + 2).some(({ kind }) => kind !== 'same'),
  );
  return (
    <pre
      tabIndex={0}
      aria-label={t('admin.policies.changes')}
      className="mt-2 overflow-x-auto rounded-code border border-line bg-page py-2 text-[12.5px] leading-5"
    >
      {lines.map(
        ({ kind, text }, index) =>
          near[index] === true && (
            <span key={index} className={clsx('block px-3 whitespace-pre-wrap', LOOKS[kind])}>
              {SIGNS[kind]} {text}
            </span>
          ),
      )}
    </pre>
  );
}
