/** The rows of a quirk table while they are edited. */
import { Plus, Trash2 } from 'lucide-react';
import { Button, IconButton } from '../../../components/button.tsx';
import { Field } from '../../../components/field.tsx';
import { SelectField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Quirk } from './quirk-documents.ts';

/** The kinds in the order of the list, each with the fields that it uses. */
export const QUIRK_FIELDS = {
  DROP: ['member'],
  RENAME: ['member', 'other'],
  CLAMP: ['member', 'min', 'max'],
  SET: ['member', 'value'],
  REPLACE: ['member', 'other', 'value'],
  REASONING_ON: ['member', 'value'],
  REASONING_OFF: ['member', 'value'],
  TOOL_NAMES: ['value', 'max'],
  NO_SYSTEM: ['other'],
  NO_PARALLEL_TOOLS: [],
} as const satisfies Record<Quirk['kind'], readonly (keyof QuirkDraft)[]>;

const KINDS = Object.keys(QUIRK_FIELDS) as Quirk['kind'][];

/** A row as it is typed. */
export interface QuirkDraft {
  /** Identifies the row while it is edited. */
  key: number;
  kind: Quirk['kind'];
  member: string;
  other: string;
  value: string;
  min: string;
  max: string;
}

interface RowsProps {
  rows: readonly QuirkDraft[];
  onChange: (rows: readonly QuirkDraft[]) => void;
}

/** The rows, and a button that adds one. */
export function QuirkRows({ rows, onChange }: RowsProps) {
  const { t } = useTranslation();
  const add = () => {
    const key = 1 + Math.max(0, ...rows.map((row) => row.key));
    onChange([...rows, { key, kind: 'DROP', member: '', other: '', value: '', min: '', max: '' }]);
  };
  return (
    <div className="flex flex-col gap-4">
      {rows.map((row, index) => (
        <Row
          key={row.key}
          row={row}
          number={index + 1}
          onChange={(changed) => onChange(rows.map((one) => (one.key === row.key ? changed : one)))}
          onRemove={() => onChange(rows.filter((one) => one.key !== row.key))}
        />
      ))}
      <div>
        <Button icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />} onClick={add}>
          {t('admin.quirks.add')}
        </Button>
      </div>
    </div>
  );
}

interface RowProps {
  row: QuirkDraft;
  number: number;
  onChange: (row: QuirkDraft) => void;
  onRemove: () => void;
}

function Row({ row, number, onChange, onRemove }: RowProps) {
  const { t } = useTranslation();
  return (
    <fieldset className="rounded-control border border-line p-3">
      <legend className="px-1 text-hint text-ink-2">{t('admin.quirks.row', { number })}</legend>
      <div className="flex items-start gap-3">
        <div className="grid min-w-0 flex-1 grid-cols-2 gap-3 max-sm:grid-cols-1">
          <SelectField
            label={t('admin.quirks.kind')}
            value={row.kind}
            onChange={({ target }) => {
              const kind = KINDS.find((one) => one === target.value);
              if (kind) onChange({ ...row, kind });
            }}
            options={KINDS.map((kind) => ({ value: kind, word: t(`admin.quirks.kinds.${kind}`) }))}
          />
          {QUIRK_FIELDS[row.kind].map((name) => (
            <RowField key={name} name={name} row={row} onChange={onChange} />
          ))}
        </div>
        <IconButton label={t('admin.quirks.remove', { number })} onClick={onRemove}>
          <Trash2 size={16} strokeWidth={1.75} />
        </IconButton>
      </div>
    </fieldset>
  );
}

interface RowFieldProps {
  name: Exclude<keyof QuirkDraft, 'key' | 'kind'>;
  row: QuirkDraft;
  onChange: (row: QuirkDraft) => void;
}

function RowField({ name, row, onChange }: RowFieldProps) {
  const { t } = useTranslation();
  const isNumber = name === 'min' || name === 'max';
  if (row.kind === 'NO_SYSTEM')
    return (
      <SelectField
        label={t('admin.quirks.role')}
        value={row.other === 'developer' ? 'developer' : 'user'}
        onChange={({ target }) => onChange({ ...row, other: target.value })}
        options={['user', 'developer'].map((value) => ({ value, word: value }))}
      />
    );
  return (
    <Field
      label={t(`admin.quirks.fields.${labelOf(name, row.kind)}`)}
      required={!isNumber && row.kind !== 'TOOL_NAMES'}
      type={isNumber ? 'number' : 'text'}
      step="any"
      autoComplete="off"
      spellCheck={false}
      value={row[name]}
      onChange={({ target }) => onChange({ ...row, [name]: target.value })}
    />
  );
}

function labelOf(name: RowFieldProps['name'], kind: Quirk['kind']) {
  if (kind === 'RENAME' && name === 'other') return 'newName';
  if (kind === 'TOOL_NAMES') return name === 'max' ? 'length' : 'characters';
  return name;
}
