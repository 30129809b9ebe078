/** Edits the text of an item in its row. Escape leaves the text as it was. */
import { useEffect, useId, useRef } from 'react';
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { FailureBanner } from '../task-dialog.tsx';
import { useSubmit } from '../use-submit.ts';
import { type Item, ItemUpdate } from './documents.ts';
import { TEXT_CHARACTERS_MAX } from './kinds.ts';

interface EditorProps {
  item: Pick<Item, 'id' | 'text' | 'version'>;
  onClose: () => void;
  onChanged: () => void;
}

/** The form. It takes the focus. */
export function ItemEditor({ item: { id, text, version }, onClose, onChanged }: EditorProps) {
  const { t } = useTranslation();
  const [, update] = useMutation(ItemUpdate);
  const form = useRef<HTMLFormElement>(null);
  const hint = useId();
  const { busy, failure, submit } = useSubmit({
    send: async (values) => {
      const { data, error } = await update({ input: { id, version, text: textIn(values, 'text').trim() } });
      return { error, userErrors: data?.derivedItemUpdate.userErrors };
    },
    onDone: () => {
      onClose();
      onChanged();
    },
  });
  useEffect(() => {
    focusEnd(form.current);
  }, []);
  return (
    <form
      ref={form}
      className="flex flex-col gap-2 pb-2"
      onSubmit={(event) => void submit(event)}
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
      {failure !== undefined && <FailureBanner words={failure} />}
      <TextField
        label={t('items.item')}
        name="text"
        prose
        required
        rows={3}
        maxLength={TEXT_CHARACTERS_MAX}
        defaultValue={text}
        aria-describedby={hint}
      />
      <p id={hint} className="text-hint text-ink-3">
        {t('items.editSentence')}
      </p>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" size="small" variant="primary" busy={busy}>
          {t('items.save')}
        </Button>
        <Button size="small" variant="ghost" onClick={onClose}>
          {t('dialog.cancel')}
        </Button>
      </div>
    </form>
  );
}

/** Puts the cursor after the text. */
function focusEnd(form: HTMLFormElement | null): void {
  const field = form?.querySelector('textarea');
  field?.focus();
  field?.setSelectionRange(field.value.length, field.value.length);
}
