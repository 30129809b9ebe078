/** The dialog of prompt templates: use, create, change, delete, export and import. */
import { FileDown, FileUp, Pencil, Plus, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button, IconButton } from '../../components/button.tsx';
import { recall, remember } from '../../components/device-storage.ts';
import { Dialog } from '../../components/dialog.tsx';
import { download } from '../../components/download.ts';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { TemplateForm } from './template-form.tsx';
import {
  FILE_BYTES_MAX,
  FILE_NAME,
  fits,
  merged,
  STORED_AS,
  type Template,
  TEMPLATES_MAX,
  templatesOf,
  textOf,
  without,
} from './templates.ts';

interface TemplatesProps {
  /** System prompt and message of the page, from which a new template starts. */
  current: Omit<Template, 'name'>;
  /** Uses a template, and closes the dialog. */
  onUse: (template: Template) => void;
  onClose: () => void;
}

/** The dialog: the list, or the form of one template. */
export function TemplatesDialog({ current, onUse, onClose }: TemplatesProps) {
  const { t } = useTranslation();
  const { templates, save } = useTemplates();
  const [edited, setEdited] = useState<Template>();
  if (edited)
    return (
      <TemplateForm
        template={edited}
        taken={without(templates, edited.name).map(({ name }) => name)}
        onSave={(template) => {
          if (save(merged(without(templates, edited.name), [template]))) setEdited(undefined);
        }}
        onClose={() => setEdited(undefined)}
      />
    );
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={t('playground.templates')}
      sentence={t('prompts.templates.sentence')}
      footer={
        <>
          <Transfer templates={templates} onImport={(added) => save(merged(templates, added))} />
          <CreateButton
            disabled={templates.length >= TEMPLATES_MAX}
            onClick={() => setEdited({ ...current, name: '' })}
          />
        </>
      }
    >
      {templates.length === 0 && <p className="text-ink-2">{t('prompts.templates.none')}</p>}
      <ul className="flex flex-col divide-y divide-line">
        {templates.map((template) => (
          <TemplateRow
            key={template.name}
            template={template}
            onUse={() => onUse(template)}
            onEdit={() => setEdited(template)}
            onDelete={() => save(without(templates, template.name))}
          />
        ))}
      </ul>
    </Dialog>
  );
}

function CreateButton({ disabled, onClick }: { disabled: boolean; onClick: () => void }) {
  const { t } = useTranslation();
  return (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={2} aria-hidden="true" />}
      disabled={disabled}
      onClick={onClick}
    >
      {t('prompts.templates.create')}
    </Button>
  );
}

interface RowProps {
  template: Template;
  onUse: () => void;
  onEdit: () => void;
  onDelete: () => void;
}

function TemplateRow({ template, onUse, onEdit, onDelete }: RowProps) {
  const { t } = useTranslation();
  const { name } = template;
  return (
    <li className="flex items-center gap-2 py-2">
      <div className="min-w-0 flex-1">
        <div className="truncate font-[550]">{name}</div>
        <div className="truncate text-hint text-ink-3">{template.systemPrompt || template.message}</div>
      </div>
      <Button size="small" aria-label={t('prompts.templates.useNamed', { name })} onClick={onUse}>
        {t('prompts.templates.use')}
      </Button>
      <IconButton label={t('prompts.templates.edit', { name })} onClick={onEdit}>
        <Pencil size={15} strokeWidth={1.75} />
      </IconButton>
      <IconButton label={t('prompts.templates.delete', { name })} onClick={onDelete}>
        <Trash2 size={15} strokeWidth={1.75} />
      </IconButton>
    </li>
  );
}

/**
 * The templates of this browser, and a function that replaces them. It returns false, and says so, if it
 * cannot.
 */
function useTemplates() {
  const { t } = useTranslation();
  const toast = useToast();
  const [templates, setTemplates] = useState(() => templatesOf(recall(STORED_AS) ?? '[]') ?? []);
  const save = (next: readonly Template[]): boolean => {
    const isKept = fits(next) && remember(STORED_AS, JSON.stringify(next));
    if (isKept) setTemplates([...next]);
    else toast({ text: t('prompts.templates.full', { count: TEMPLATES_MAX }), failed: true });
    return isKept;
  };
  return { templates, save };
}

interface TransferProps {
  templates: readonly Template[];
  /** Returns whether they were added; says so if not. */
  onImport: (templates: Template[]) => boolean;
}

/** Buttons that save all templates to a file, and add those of a file. */
function Transfer({ templates, onImport }: TransferProps) {
  const { t } = useTranslation();
  const toast = useToast();
  const input = useRef<HTMLInputElement>(null);
  const read = async (file: File | undefined) => {
    if (!file) return;
    const added = file.size > FILE_BYTES_MAX ? undefined : templatesOf(await file.text());
    if (!added) toast({ text: t('prompts.templates.badFile'), failed: true });
    else if (onImport(added)) toast({ text: t('prompts.templates.imported', { count: added.length }) });
  };
  return (
    <>
      <Button
        icon={<FileUp size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => input.current?.click()}
      >
        {t('prompts.templates.import')}
      </Button>
      <input
        ref={input}
        type="file"
        accept="application/json,.json"
        hidden
        onChange={(event) => {
          void read(event.target.files?.[0]);
          event.target.value = '';
        }}
      />
      <Button
        icon={<FileDown size={16} strokeWidth={1.75} aria-hidden="true" />}
        disabled={templates.length === 0}
        onClick={() => download(FILE_NAME, textOf(templates))}
      >
        {t('prompts.templates.export')}
      </Button>
    </>
  );
}
