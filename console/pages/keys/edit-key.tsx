/** Edits a key: name, group, models, expiry, monthly cap and allowed IP addresses. */
import { useMutation, useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Dialog } from '../../components/dialog.tsx';
import { Below, Field } from '../../components/field.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { CheckField, SelectField } from '../../components/select-field.tsx';
import { useToast } from '../../components/toast.tsx';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import type { Refusal } from '../answer-fields.ts';
import { addressesIn, dayOf, endOfDay, textIn } from '../form-values.ts';
import { UpdateKey } from './changes.ts';
import { TaskDialog } from '../task-dialog.tsx';
import type { Key } from './documents.ts';
import { GROUPS } from './search.ts';

const KeyToEdit = graphql(`
  query KeyToEdit($id: ID!) {
    node(id: $id) {
      __typename
      id
      ... on ApiKey {
        name
        group
        expiresAt
        spendLimit
        allowedIps
        allowedModels {
          id
        }
        version
      }
    }
    catalog(first: 100) {
      nodes {
        id
        name
      }
    }
  }
`);

type Editable = Extract<NonNullable<ResultOf<typeof KeyToEdit>['node']>, { __typename: 'ApiKey' }>;
type Model = ResultOf<typeof KeyToEdit>['catalog']['nodes'][number];

const NAME_CHARACTERS_MAX = 80;

interface EditKeyProps {
  apiKey: Key;
  groups: readonly (typeof GROUPS)[number][];
  onClose: () => void;
}

/** The dialog. It reads the key again, so that the form starts with the current values. */
export function EditKeyDialog({ apiKey, groups, onClose }: EditKeyProps) {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({
    query: KeyToEdit,
    variables: { id: apiKey.id },
    requestPolicy: 'network-only',
  });
  const title = t('keys.editTitle', { name: apiKey.name });
  if (data?.node?.__typename === 'ApiKey') {
    const reload = () => {
      again({ requestPolicy: 'network-only' });
    };
    return (
      <EditForm {...{ title, groups, onClose, reload }} editable={data.node} models={data.catalog.nodes} />
    );
  }
  return (
    <Dialog open onClose={onClose} title={title}>
      {error ? (
        <Failure
          title={t('keys.failed')}
          safe={t('keys.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      ) : (
        <SkeletonRows rows={4} />
      )}
    </Dialog>
  );
}

interface EditFormProps extends Omit<EditKeyProps, 'apiKey'> {
  title: string;
  editable: Editable;
  models: readonly Model[];
  reload: () => void;
}

function EditForm({ title, editable, models, groups, onClose, reload }: EditFormProps) {
  const { t } = useTranslation();
  const [, update] = useMutation(UpdateKey);
  const toast = useToast();
  const send = async (values: FormData) => {
    const input = { id: editable.id, version: editable.version, ...changesIn(values, groups) };
    const { data, error } = await update({ input });
    const userErrors = data?.apiKeyUpdate.userErrors;
    if (!userErrors?.some(({ code }) => code === 'STALE_VERSION')) return { error, userErrors };
    // The next attempt uses the current version; the input stays.
    reload();
    const stale: Refusal = { code: 'INVALID', message: t('keys.stale'), field: null };
    return { error, userErrors: [stale] };
  };
  return (
    <TaskDialog
      title={title}
      sentence={t('keys.editSentence')}
      button={t('keys.save')}
      wide
      onClose={onClose}
      onDone={() => {
        toast({ text: t('keys.edited', { name: editable.name }) });
        onClose();
      }}
      send={send}
    >
      <Field
        label={t('keys.name')}
        name="name"
        required
        maxLength={NAME_CHARACTERS_MAX}
        defaultValue={editable.name}
        hint={t('keys.nameHint')}
        autoComplete="off"
      />
      <SelectField
        label={t('keys.group')}
        name="group"
        defaultValue={editable.group}
        options={groups.map((value) => ({ value, word: t(`groups.${value}`) }))}
      />
      <Limits editable={editable} models={models} />
    </TaskDialog>
  );
}

function Limits({ editable, models }: Pick<EditFormProps, 'editable' | 'models'>) {
  const { t } = useTranslation();
  return (
    <>
      <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <Field
          label={t('keys.expires')}
          name="expires"
          type="date"
          defaultValue={dayOf(editable.expiresAt)}
          hint={t('keys.expiresHint')}
        />
        <Field
          label={t('keys.cap')}
          name="cap"
          inputMode="decimal"
          pattern="[0-9]+([.][0-9]{1,6})?"
          before={<span className="text-ink-3">$</span>}
          defaultValue={editable.spendLimit ?? ''}
          hint={t('keys.capHint')}
          autoComplete="off"
        />
      </div>
      <Field
        label={t('keys.addresses')}
        name="addresses"
        defaultValue={editable.allowedIps.join(', ')}
        hint={t('keys.addressesHint')}
        spellCheck={false}
        autoComplete="off"
      />
      <div className="flex flex-col gap-2">
        <CheckField
          legend={t('keys.models')}
          name="models"
          checked={editable.allowedModels?.map(({ id }) => id) ?? []}
          options={models.map(({ id, name }) => ({ value: id, word: name }))}
        />
        <Below id="key-models" hint={t('keys.modelsHint')} />
      </div>
    </>
  );
}

/** The values of the form. An empty field removes its limit; no ticked model allows all models. */
function changesIn(values: FormData, groups: EditKeyProps['groups']) {
  const cap = textIn(values, 'cap').trim();
  const addresses = addressesIn(textIn(values, 'addresses'));
  const models = values.getAll('models').filter((id) => typeof id === 'string');
  return {
    name: textIn(values, 'name').trim(),
    group: groups.find((group) => group === textIn(values, 'group')) ?? GROUPS[0],
    expiresAt: endOfDay(textIn(values, 'expires'))?.toISOString() ?? null,
    spendLimit: cap === '' ? null : cap,
    allowedIps: addresses.length === 0 ? null : addresses,
    allowedModelIds: models.length === 0 ? null : models,
  };
}
