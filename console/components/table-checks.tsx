/** The checkboxes of a table: one on each row, and one in the header for all rows of the page. */
import { use, useEffect, useRef } from 'react';
import { useTranslation } from '../translation.ts';
import { ChoiceContext } from './table-context.ts';

interface RowBoxProps {
  id: string;
  /** The name of the row. */
  name: string;
}

// The label enlarges the target and lies above the link that covers the row.
const TARGET =
  'relative z-[1] -m-2 inline-flex items-center justify-center p-2 align-middle touch:-m-3.5 touch:p-3.5';

/** The checkbox of a row. */
export function RowBox({ id, name }: RowBoxProps) {
  const { t } = useTranslation();
  const { chosen, onChoose } = use(ChoiceContext);
  const change = (on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    onChoose(next);
  };
  return (
    <label className={TARGET}>
      <input
        type="checkbox"
        className="checkbox"
        data-row-box
        aria-label={t('table.choose', { name })}
        checked={chosen.has(id)}
        onChange={(event) => change(event.currentTarget.checked)}
      />
    </label>
  );
}

/** The checkbox for all rows of the page, which have these ids; mixed if only some are chosen. */
export function PageBox({ ids }: { ids: readonly string[] }) {
  const { t } = useTranslation();
  const { chosen, onChoose } = use(ChoiceContext);
  const box = useRef<HTMLInputElement>(null);
  const count = ids.filter((id) => chosen.has(id)).length;
  const isAll = count === ids.length && count > 0;
  const isMixed = count > 0 && !isAll;
  useEffect(() => {
    if (box.current) box.current.indeterminate = isMixed;
  }, [isMixed]);
  return (
    <label className={TARGET}>
      <input
        ref={box}
        type="checkbox"
        className="checkbox"
        aria-label={t('table.chooseAll')}
        checked={isAll}
        onChange={() => onChoose(new Set(isAll ? [] : ids))}
      />
    </label>
  );
}
