/** The field in which the user types a word to confirm an irreversible action. */
import { useId } from 'react';
import { Below, frameOf, INPUT_FRAME } from '../../components/field.tsx';
import { Rich } from '../../components/rich.tsx';
import { useTranslation } from '../../translation.ts';

/** The field; its form name is `typed`. */
export function TypedWord({ word, wrong }: { word: string; wrong: boolean }) {
  const { t } = useTranslation();
  const id = useId();
  const error = wrong ? t('profile.notTyped', { word }) : undefined;
  return (
    <div className="flex flex-col gap-2">
      <label htmlFor={id} className="text-table">
        <Rich
          text={t('profile.typeToConfirm', { word })}
          marks={{ b: (inside) => <strong className="font-semibold break-all">{inside}</strong> }}
        />
      </label>
      <input
        id={id}
        name="typed"
        autoComplete="off"
        spellCheck={false}
        aria-invalid={wrong || undefined}
        aria-describedby={wrong ? `${id}-below` : undefined}
        className={`h-9 px-3 touch:h-11 ${INPUT_FRAME} ${frameOf(error)} outline-none`}
      />
      {error !== undefined && <Below id={`${id}-below`} error={error} />}
    </div>
  );
}
