/** The dialog that shows the block about the user for a draft. */
import { useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { PlaygroundQuery } from '../playground/documents.ts';
import { modelsOf } from '../playground/models.ts';
import { PreviewQuery } from './documents.ts';

const DRAFT_CHARACTERS_MAX = 20_000;

/** The dialog. The draft is only used for this preview and is not stored. */
export function PreviewDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: PlaygroundQuery });
  const models = modelsOf(data);
  const [asked, setAsked] = useState<{ modelName: string; draft: string }>();
  const form = 'preview-form';
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t('items.preview')}
      sentence={t('items.previewSentence')}
      footer={
        <Button type="submit" form={form} variant="primary">
          {t('items.previewButton')}
        </Button>
      }
    >
      <form
        id={form}
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          const values = new FormData(event.currentTarget);
          setAsked({ modelName: textIn(values, 'model'), draft: textIn(values, 'draft') });
        }}
      >
        <TextField
          label={t('items.draft')}
          name="draft"
          prose
          rows={3}
          maxLength={DRAFT_CHARACTERS_MAX}
          data-focus-first
        />
        <SelectField
          label={t('items.model')}
          name="model"
          options={models.map(({ name }) => ({ value: name, word: name }))}
        />
      </form>
      {asked && <Preview {...asked} />}
    </Dialog>
  );
}

function Preview(variables: { modelName: string; draft: string }) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: PreviewQuery, variables, requestPolicy: 'network-only' });
  const preview = data?.viewer?.personalIntelligence.injectionPreview;
  if (!preview) return null;
  const { text, tokens, budgetTokens, omitted } = preview;
  return (
    <div className="mt-5" role="status">
      {text === '' ? (
        <p>{t('items.previewNothing')}</p>
      ) : (
        <>
          <pre className="max-h-80 overflow-auto rounded-code bg-sunk p-3 text-table whitespace-pre-wrap">
            {text}
          </pre>
          <p className="mt-2 text-hint text-ink-3">
            {t('items.previewSize', { tokens, budget: budgetTokens })}
            {t('state.gap')}
            {omitted > 0 && t('items.previewOmitted', { count: omitted })}
          </p>
        </>
      )}
    </div>
  );
}
