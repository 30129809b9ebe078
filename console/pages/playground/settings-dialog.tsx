/** The dialog in which the user sets the system prompt and the parameters of replies. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useTranslation } from '../../translation.ts';
import type { PickedModel } from './models.ts';
import { draftOf, type SettingsDraft, settingsOf, type WrongField } from './settings-form.ts';
import { countOf, EFFORTS, MEMBERS, NO_SETTINGS, type Parameter, type Settings } from './settings.ts';

interface DialogProps {
  settings: Settings;
  /** The models that get the settings. */
  models: readonly PickedModel[];
  onApply: (settings: Settings) => void;
  onClose: () => void;
}

const PARAMETERS = Object.keys(MEMBERS) as Parameter[];

/** The dialog. Parameters that none of the models takes are left out, and named below. */
export function SettingsDialog({ settings, models, onApply, onClose }: DialogProps) {
  const { t } = useTranslation();
  const [draft, setDraft] = useState(draftOf(settings));
  const change = (name: keyof SettingsDraft) => (text: string) => setDraft({ ...draft, [name]: text });
  const takenBy = (name: Parameter) => models.filter(({ parameters }) => parameters.includes(name));
  const shown = PARAMETERS.filter((name) => models.length === 0 || takenBy(name).length > 0);
  const { wrong, apply, clear } = useForm({ draft, setDraft, onApply, onClose });
  return (
    <Dialog
      open
      wide
      drawer
      onClose={onClose}
      title={t('prompts.settings.title')}
      sentence={t('prompts.settings.sentence')}
      footer={
        <>
          <Button onClick={clear} disabled={countOf(settingsOf(draft).settings) === 0 && wrong.size === 0}>
            {t('prompts.settings.clear')}
          </Button>
          <Button variant="primary" onClick={apply}>
            {t('prompts.settings.apply')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-5">
        <SystemPrompt
          text={draft.systemPrompt}
          isLong={wrong.has('systemPrompt')}
          onChange={change('systemPrompt')}
        />
        <div className="grid gap-x-4 gap-y-5 sm:grid-cols-2">
          {shown.map((name) => (
            <ParameterField key={name} {...{ name, draft, wrong }} onChange={change(MEMBERS[name])} />
          ))}
        </div>
        <Untaken models={models} />
      </div>
    </Dialog>
  );
}

interface FormOptions extends Pick<DialogProps, 'onApply' | 'onClose'> {
  draft: SettingsDraft;
  setDraft: (draft: SettingsDraft) => void;
}

/** The wrong fields, and the actions of the buttons. */
function useForm({ draft, setDraft, onApply, onClose }: FormOptions) {
  const [wrong, setWrong] = useState<ReadonlySet<WrongField>>(new Set());
  const apply = () => {
    const read = settingsOf(draft);
    setWrong(read.wrong);
    if (read.wrong.size > 0) return;
    onApply(read.settings);
    onClose();
  };
  const clear = () => {
    setDraft(draftOf(NO_SETTINGS));
    setWrong(new Set());
  };
  return { wrong, apply, clear };
}

interface SystemPromptProps {
  text: string;
  /** Whether the text is too long. */
  isLong: boolean;
  onChange: (text: string) => void;
}

function SystemPrompt({ text, isLong, onChange }: SystemPromptProps) {
  const { t } = useTranslation();
  return (
    <div>
      <TextField
        prose
        data-focus-first
        rows={6}
        label={t('prompts.settings.systemPrompt')}
        value={text}
        aria-invalid={isLong || undefined}
        onChange={(event) => onChange(event.target.value)}
      />
      <Problem shown={isLong} text={t('prompts.settings.wrong.systemPrompt')} />
    </div>
  );
}

interface FieldProps {
  name: Parameter;
  draft: SettingsDraft;
  wrong: ReadonlySet<WrongField>;
  onChange: (text: string) => void;
}

function ParameterField({ name, draft, wrong, onChange }: FieldProps) {
  const { t } = useTranslation();
  const label = t(`prompts.settings.names.${name}`);
  const member = MEMBERS[name];
  if (member === 'effort')
    return (
      <SelectField
        label={label}
        value={draft.effort}
        options={[
          { value: '', word: t('prompts.settings.byModel') },
          ...EFFORTS.map((effort) => ({ value: effort, word: t(`prompts.settings.efforts.${effort}`) })),
        ]}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  if (member === 'stop')
    return (
      <div>
        <TextField
          rows={2}
          label={label}
          value={draft.stop}
          aria-invalid={wrong.has('stop') || undefined}
          onChange={(event) => onChange(event.target.value)}
        />
        <Problem shown={wrong.has('stop')} text={t('prompts.settings.wrong.stop')} />
      </div>
    );
  return (
    <Field
      label={label}
      value={draft[member]}
      placeholder={t('prompts.settings.byModel')}
      inputMode={member === 'temperature' || member === 'topP' ? 'decimal' : 'numeric'}
      autoComplete="off"
      hint={t(`prompts.settings.hints.${member}`)}
      error={wrong.has(member) ? t(`prompts.settings.wrong.${member}`) : undefined}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function Problem({ shown, text }: { shown: boolean; text: string }) {
  if (!shown) return null;
  return (
    <p role="alert" className="mt-2 text-hint text-bad">
      {text}
    </p>
  );
}

/** The parameters that a model does not take. They are not sent to it. */
function Untaken({ models }: { models: readonly PickedModel[] }) {
  const { t } = useTranslation();
  const lines = models.flatMap(({ name: model, parameters }) => {
    const missing = PARAMETERS.filter((name) => !parameters.includes(name));
    const names = missing.map((name) => t(`prompts.settings.names.${name}`)).join(t('state.separator'));
    return missing.length > 0 ? [{ model, names }] : [];
  });
  if (lines.length === 0) return null;
  return (
    <ul className="text-hint text-ink-3">
      {lines.map(({ model, names }) => (
        <li key={model}>{t('prompts.settings.untaken', { model, names })}</li>
      ))}
    </ul>
  );
}
