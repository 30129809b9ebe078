/** The form of one prompt template. */
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTranslation } from '../../translation.ts';
import { NAME_CHARACTERS_MAX, type Template, TEXT_CHARACTERS_MAX } from './templates.ts';

interface FormProps {
  /** The template to change; a new one has no name. */
  template: Template;
  /** Names of other templates. */
  taken: readonly string[];
  onSave: (template: Template) => void;
  onClose: () => void;
}

const TEXTS = [
  { member: 'systemPrompt', label: 'prompts.settings.systemPrompt' },
  { member: 'message', label: 'prompts.templates.message' },
] as const;

/** The form, as a dialog. */
export function TemplateForm({ template, taken, onSave, onClose }: FormProps) {
  const { t } = useTranslation();
  const form = useId();
  const [draft, setDraft] = useState(template);
  const [problem, setProblem] = useState<'noName' | 'takenName'>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const name = draft.name.trim();
    const found = name === '' ? 'noName' : taken.includes(name) ? 'takenName' : undefined;
    setProblem(found);
    if (!found) onSave({ ...draft, name });
  };
  const footer = <FormButtons form={form} onClose={onClose} />;
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t(template.name === '' ? 'prompts.templates.createTitle' : 'prompts.templates.editTitle')}
      footer={footer}
    >
      <form id={form} onSubmit={submit} noValidate className="flex flex-col gap-5">
        <Field
          data-focus-first
          label={t('prompts.templates.name')}
          value={draft.name}
          maxLength={NAME_CHARACTERS_MAX}
          error={problem && t(`prompts.templates.${problem}`)}
          onChange={(event) => setDraft({ ...draft, name: event.target.value })}
        />
        {TEXTS.map(({ member, label }) => (
          <TextField
            key={member}
            prose
            rows={4}
            label={t(label)}
            maxLength={TEXT_CHARACTERS_MAX}
            value={draft[member]}
            onChange={(event) => setDraft({ ...draft, [member]: event.target.value })}
          />
        ))}
      </form>
    </Dialog>
  );
}

function FormButtons({ form, onClose }: { form: string; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <>
      <Button onClick={onClose}>{t('prompts.templates.cancel')}</Button>
      <Button variant="primary" type="submit" form={form}>
        {t('prompts.templates.save')}
      </Button>
    </>
  );
}
