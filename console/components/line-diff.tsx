/** Shows the difference of two texts line by line. A sign before each line means the same as its colour. */
import { clsx } from 'clsx';
import { type DiffLine, diffLines } from './diff-lines.ts';

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', gone: '−', new: '+' };
const LOOKS: Record<DiffLine['kind'], string> = {
  same: 'text-ink-2',
  gone: 'bg-bad-soft text-bad',
  new: 'bg-good-soft text-good',
};

interface LineDiffProps {
  label: string;
  before: string;
  after: string;
}

/** The difference; unchanged lines are shown only next to a change. */
export function LineDiff({ label, before, after }: LineDiffProps) {
  const lines = diffLines(before, after);
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - 1), index + 2).some(({ kind }) => kind !== 'same'),
  );
  return (
    <pre
      tabIndex={0}
      role="region"
      aria-label={label}
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
