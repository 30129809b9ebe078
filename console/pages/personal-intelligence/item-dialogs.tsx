/** Dialogs of Personal Intelligence: add, edit, delete, sources, preview, and forgetting everything. */
import { useState } from 'react';
import { useMutation } from 'urql';
import { SelectField } from '../../components/select-field.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { TypedWord } from '../profile/typed-word.tsx';
import { TaskDialog } from '../task-dialog.tsx';
import {
  ForgetEverything,
  type Item,
  ItemCreate,
  ItemDelete,
  ItemsDeleteAll,
  ItemUpdate,
  type Switch,
  SwitchSet,
} from './documents.ts';
import { kindOf, KINDS, TEXT_CHARACTERS_MAX } from './kinds.ts';
import { PreviewDialog } from './preview-dialog.tsx';
import { SourcesDialog } from './sources-dialog.tsx';

/** The words that the service requires as confirmations. */
const DELETE_WORD = 'DELETE';
const FORGET_WORD = 'FORGET';

/** The task of the open dialog, with its item. */
export type Task =
  | { name: 'add' | 'preview' | 'forget' }
  | { name: 'deleteAll'; count: number }
  | { name: 'edit' | 'delete' | 'sources'; item: Pick<Item, 'id' | 'text' | 'version'> };

interface DialogProps {
  onClose: () => void;
  onChanged: () => void;
}

/** The dialog of a task. */
export function ItemDialog({ task, ...props }: DialogProps & { task: Task }) {
  switch (task.name) {
    case 'add':
      return <AddDialog {...props} />;
    case 'edit':
      return <EditDialog {...props} item={task.item} />;
    case 'delete':
      return <DeleteDialog {...props} item={task.item} />;
    case 'sources':
      return <SourcesDialog id={task.item.id} onClose={props.onClose} />;
    case 'preview':
      return <PreviewDialog onClose={props.onClose} />;
    case 'deleteAll':
      return <DeleteAllDialog {...props} count={task.count} />;
    case 'forget':
      return <ForgetDialog {...props} />;
  }
}

interface TurnOffProps {
  item: Switch;
  onClose: () => void;
  onDone: () => void;
}

/** Asks what happens to the items of a switch that goes off. */
export function TurnOffDialog({ item: { kind, itemCount }, onClose, onDone }: TurnOffProps) {
  const { t } = useTranslation();
  const [, send] = useMutation(SwitchSet);
  return (
    <TaskDialog
      title={t('items.turnOffTitle', { kind: t(`intelligence.kinds.${kind}`) })}
      sentence={t('items.turnOffSentence')}
      button={t('items.turnOff')}
      onClose={onClose}
      onDone={() => {
        onClose();
        onDone();
      }}
      send={async (values) => {
        const input = { kind, enabled: false, deleteExisting: textIn(values, 'fate') === 'delete' };
        const { data, error } = await send({ input });
        return { error, userErrors: data?.personalSwitchSet.userErrors };
      }}
    >
      <fieldset className="flex flex-col gap-2">
        <legend className="sr-only">{t('items.fate')}</legend>
        {(['keep', 'delete'] as const).map((fate) => (
          <label key={fate} className="flex items-center gap-2.5 touch:min-h-11">
            <input type="radio" name="fate" value={fate} defaultChecked={fate === 'keep'} />
            {t(`items.fates.${fate}`, { count: itemCount })}
          </label>
        ))}
      </fieldset>
    </TaskDialog>
  );
}

function AddDialog({ onClose, onChanged }: DialogProps) {
  const { t } = useTranslation();
  const [, send] = useMutation(ItemCreate);
  return (
    <TaskDialog
      title={t('items.add')}
      sentence={t('items.addSentence')}
      button={t('items.addButton')}
      onClose={onClose}
      onDone={() => finish(onClose, onChanged)}
      send={async (values) => {
        const kind = kindOf(textIn(values, 'kind')) ?? 'PREFERENCE_PROFILE';
        const { data, error } = await send({ input: { kind, text: textIn(values, 'text').trim() } });
        return { error, userErrors: data?.derivedItemCreate.userErrors };
      }}
    >
      <SelectField
        label={t('items.kind')}
        name="kind"
        defaultValue="PREFERENCE_PROFILE"
        options={KINDS.filter((kind) => kind !== 'CONVERSATION_SUMMARY').map((value) => ({
          value,
          word: t(`items.kinds.${value}`),
        }))}
      />
      <TextField
        label={t('items.item')}
        name="text"
        prose
        required
        rows={3}
        maxLength={TEXT_CHARACTERS_MAX}
      />
    </TaskDialog>
  );
}

type Named = { item: Pick<Item, 'id' | 'text' | 'version'> };

function EditDialog({ item: { id, text, version }, onClose, onChanged }: DialogProps & Named) {
  const { t } = useTranslation();
  const [, send] = useMutation(ItemUpdate);
  return (
    <TaskDialog
      title={t('items.editTitle')}
      sentence={t('items.editSentence')}
      button={t('items.save')}
      onClose={onClose}
      onDone={() => finish(onClose, onChanged)}
      send={async (values) => {
        const { data, error } = await send({ input: { id, version, text: textIn(values, 'text').trim() } });
        return { error, userErrors: data?.derivedItemUpdate.userErrors };
      }}
    >
      <TextField
        label={t('items.item')}
        name="text"
        prose
        required
        rows={4}
        maxLength={TEXT_CHARACTERS_MAX}
        defaultValue={text}
      />
    </TaskDialog>
  );
}

function DeleteDialog({ item: { id, text }, onClose, onChanged }: DialogProps & Named) {
  const { t } = useTranslation();
  const [, send] = useMutation(ItemDelete);
  const toast = useToast();
  return (
    <TaskDialog
      title={t('items.deleteTitle')}
      sentence={t('items.deleteSentence')}
      button={t('items.deleteButton')}
      destructive
      onClose={onClose}
      onDone={() => {
        toast({ text: t('items.deleted') });
        finish(onClose, onChanged);
      }}
      send={async (values) => {
        const input = { ids: [id], neverRelearn: values.has('never') };
        const { data, error } = await send({ input });
        return { error, userErrors: data?.derivedItemDelete.userErrors };
      }}
    >
      <blockquote className="border-l-2 border-line pl-3 [overflow-wrap:anywhere] whitespace-pre-wrap">
        {text}
      </blockquote>
      <label className="flex items-center gap-2.5 touch:min-h-11">
        <input type="checkbox" name="never" defaultChecked />
        {t('items.neverAgain')}
      </label>
    </TaskDialog>
  );
}

function DeleteAllDialog({ count, onClose, onChanged }: DialogProps & { count: number }) {
  const { t } = useTranslation();
  const [, send] = useMutation(ItemsDeleteAll);
  const [mistyped, setMistyped] = useState(false);
  return (
    <TaskDialog
      title={t('items.deleteAllTitle')}
      sentence={t('items.deleteAllSentence', { count })}
      button={t('items.deleteAllButton')}
      destructive
      onClose={onClose}
      onDone={() => finish(onClose, onChanged)}
      send={async (values) => {
        const confirm = textIn(values, 'typed').trim();
        setMistyped(confirm !== DELETE_WORD);
        if (confirm !== DELETE_WORD) return undefined;
        const kind = kindOf(textIn(values, 'kind'));
        const { data, error } = await send({ input: { confirm, kinds: kind ? [kind] : null } });
        return { error, userErrors: data?.derivedItemsDeleteAll.userErrors };
      }}
    >
      <SelectField
        label={t('items.kind')}
        name="kind"
        options={[
          { value: '', word: t('items.allKinds') },
          ...KINDS.map((value) => ({ value, word: t(`items.kinds.${value}`) })),
        ]}
      />
      <TypedWord word={DELETE_WORD} wrong={mistyped} />
    </TaskDialog>
  );
}

function ForgetDialog({ onClose, onChanged }: DialogProps) {
  const { t } = useTranslation();
  const [, send] = useMutation(ForgetEverything);
  const [mistyped, setMistyped] = useState(false);
  const toast = useToast();
  return (
    <TaskDialog
      title={t('items.forgetTitle')}
      sentence={t('items.forgetSentence')}
      button={t('items.forgetButton')}
      destructive
      onClose={onClose}
      onDone={() => {
        toast({ text: t('items.forgotten') });
        finish(onClose, onChanged);
      }}
      send={async (values) => {
        const confirm = textIn(values, 'typed').trim();
        setMistyped(confirm !== FORGET_WORD);
        if (confirm !== FORGET_WORD) return undefined;
        const { data, error } = await send({ input: { confirm } });
        return { error, userErrors: data?.personalForgetEverything.userErrors };
      }}
    >
      <TypedWord word={FORGET_WORD} wrong={mistyped} />
    </TaskDialog>
  );
}

function finish(onClose: () => void, onChanged: () => void): void {
  onClose();
  onChanged();
}
