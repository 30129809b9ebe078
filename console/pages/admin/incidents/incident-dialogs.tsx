/** The dialogs of incidents: a new one, a message about one, and the removal of one. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { Field } from '../../../components/field.tsx';
import { CheckField, SelectField } from '../../../components/select-field.tsx';
import { TextField } from '../../../components/text-field.tsx';
import { useToast } from '../../../components/toast.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Incident } from '../../status/documents.ts';
import { FAMILIES } from '../families.ts';
import { FormDialog, text, words } from '../form-dialog.tsx';
import { CreateIncident, DeleteIncident, UpdateIncident } from './documents.ts';

const KINDS = ['DEGRADATION', 'OUTAGE', 'MAINTENANCE'] as const;
type Kind = (typeof KINDS)[number];

const STATES = {
  INCIDENT: ['INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'],
  MAINTENANCE: ['SCHEDULED', 'IN_PROGRESS', 'RESOLVED'],
} as const;

/** The largest lengths that the service accepts, in characters. */
const TITLE_CHARACTERS_MAX = 120;
const MESSAGE_CHARACTERS_MAX = 4000;

function statesOf(kind: Kind) {
  return STATES[kind === 'MAINTENANCE' ? 'MAINTENANCE' : 'INCIDENT'];
}

interface NewIncidentProps {
  /** Names of the models that it can affect. */
  models: readonly string[];
  onClose: () => void;
}

/** Publishes an incident or plans a maintenance. */
export function NewIncident({ models, onClose }: NewIncidentProps) {
  const { t } = useTranslation();
  const [kind, setKind] = useState<Kind>('DEGRADATION');
  const [, create] = useMutation(CreateIncident);
  const done = useDone(t('incidents.published'), onClose);
  const send = async (values: FormData, reason: string) => {
    const { data, error } = await create({ input: { ...draftIn(values, kind, models), reason } });
    return { error, userErrors: data?.adminIncidentCreate.userErrors };
  };
  return (
    <FormDialog
      title={t('incidents.new')}
      sentence={t('incidents.newSentence')}
      button={t('incidents.publish')}
      wide
      onClose={onClose}
      onDone={done}
      send={send}
    >
      <SelectField
        label={t('incidents.kind')}
        value={kind}
        options={KINDS.map((value) => ({ value, word: t(`status.kinds.${value}`) }))}
        onChange={(event) => setKind(KINDS.find((known) => known === event.target.value) ?? kind)}
      />
      <Field
        label={t('incidents.title')}
        name="title"
        required
        maxLength={TITLE_CHARACTERS_MAX}
        autoComplete="off"
      />
      <Message kind={kind} state={statesOf(kind)[0]} />
      {kind === 'MAINTENANCE' && <Times />}
      <Affected models={models} />
    </FormDialog>
  );
}

/** The models and families that the incident affects. */
function Affected({ models }: { models: readonly string[] }) {
  const { t } = useTranslation();
  return (
    <>
      <CheckField
        legend={t('incidents.models')}
        name="models"
        options={models.map((value) => ({ value, word: value }))}
        checked={[]}
      />
      <CheckField
        legend={t('incidents.families')}
        name="families"
        options={FAMILIES.map((value) => ({ value, word: t(`pricing.families.${value}`) }))}
        checked={[]}
      />
    </>
  );
}

interface DialogProps {
  incident: Incident;
  onClose: () => void;
}

/** Publishes a message about an incident, and its new state. */
export function WriteUpdate({ incident: { id, version, kind, state, title }, onClose }: DialogProps) {
  const { t } = useTranslation();
  const [, update] = useMutation(UpdateIncident);
  const done = useDone(t('incidents.updated'), onClose);
  return (
    <FormDialog
      title={t('incidents.update')}
      sentence={title}
      button={t('incidents.publish')}
      onClose={onClose}
      onDone={done}
      send={async (values, reason) => {
        const { data, error } = await update({ input: { ...messageIn(values, kind), id, version, reason } });
        return { error, userErrors: data?.adminIncidentUpdate.userErrors };
      }}
    >
      <Message kind={kind} state={state} />
    </FormDialog>
  );
}

/** Deletes an incident that was published by mistake. */
export function RemoveIncident({ incident: { id, title }, onClose }: DialogProps) {
  const { t } = useTranslation();
  const [, remove] = useMutation(DeleteIncident);
  const done = useDone(t('incidents.removed'), onClose);
  return (
    <FormDialog
      title={t('incidents.removeTitle', { title })}
      sentence={t('incidents.removeSentence')}
      button={t('incidents.remove')}
      destructive
      onClose={onClose}
      onDone={done}
      send={async (_, reason) => {
        const { data, error } = await remove({ input: { id, reason } });
        return { error, userErrors: data?.adminIncidentDelete.userErrors };
      }}
    />
  );
}

/** Says that it is done, and closes the dialog. */
function useDone(done: string, onClose: () => void): () => void {
  const toast = useToast();
  return () => {
    toast({ text: done });
    onClose();
  };
}

/** State and message. The key resets the choice of states with the kind. */
function Message({ kind, state }: { kind: Kind; state: Incident['state'] }) {
  const { t } = useTranslation();
  return (
    <>
      <SelectField
        key={kind}
        label={t('admin.state')}
        name="state"
        defaultValue={state}
        options={statesOf(kind).map((value) => ({ value, word: t(`status.states.${value}`) }))}
      />
      <TextField
        label={t('incidents.message')}
        name="message"
        rows={4}
        required
        prose
        maxLength={MESSAGE_CHARACTERS_MAX}
      />
    </>
  );
}

/** Begin and end of a maintenance. */
function Times() {
  const { t } = useTranslation();
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <Field label={t('incidents.starts')} name="starts" type="datetime-local" required />
      <Field label={t('incidents.ends')} name="ends" type="datetime-local" required />
    </div>
  );
}

function draftIn(values: FormData, kind: Kind, models: readonly string[]) {
  const planned = kind === 'MAINTENANCE';
  return {
    ...messageIn(values, kind),
    kind,
    title: text(values, 'title'),
    modelNames: words(values, 'models', models),
    families: words(values, 'families', FAMILIES),
    startsAt: planned ? timeIn(values, 'starts') : null,
    endsAt: planned ? timeIn(values, 'ends') : null,
  };
}

function messageIn(values: FormData, kind: Kind) {
  const [first] = statesOf(kind);
  return {
    state: words<Incident['state']>(values, 'state', statesOf(kind))[0] ?? first,
    message: text(values, 'message'),
  };
}

/** The time of a field, which people enter in UTC. */
function timeIn(values: FormData, name: string): string | null {
  const time = text(values, name);
  return time === '' ? null : new Date(`${time}Z`).toISOString();
}
