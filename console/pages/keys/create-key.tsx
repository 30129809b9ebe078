/**
 * The dialog that creates a key: name and group, optionally expiry, monthly cap, allowed addresses and
 * models. The secret is created later, when the key is revealed.
 */
import { CircleAlert } from 'lucide-react';
import { useState } from 'react';
import { Controller, useForm, type UseFormReturn } from 'react-hook-form';
import { useMutation, useQuery } from 'urql';
import { parseDollars } from '@gateway/shared/money';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field, Segmented } from '../../components/field.tsx';
import { Banner } from '../../components/notice.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { useIdempotencyKey } from '../idempotency.ts';
import { addressesIn, endOfDay } from '../form-values.ts';
import { CreateKey } from './changes.ts';
import { type Key, KeyPoolsQuery } from './documents.ts';
import { ModelBoxes, PriceExamples } from './model-choice.tsx';
import type { GROUPS } from './search.ts';

type Group = (typeof GROUPS)[number];

interface KeyForm {
  name: string;
  group: Group;
  /** The id of the key's pool; empty for the main domain. */
  pool: string;
  expires: string;
  cap: string;
  /** IP addresses and CIDR blocks, separated by commas; empty allows any. */
  addresses: string;
  /** The ids of the allowed models; empty allows all. */
  models: string[];
}

interface CreateKeyProps {
  groups: readonly Group[];
  /** The pool that is selected initially. */
  poolId?: string | undefined;
  onClose: () => void;
  onCreated: (key: Key) => void;
}

const FORM_ID = 'create-key';
const NAME_CHARACTERS_MAX = 80;

/** The dialog. `onCreated` gets the new key, to reveal it. */
export function CreateKeyDialog({ groups, poolId = '', onClose, onCreated }: CreateKeyProps) {
  const { t } = useTranslation();
  const form = useForm<KeyForm>({
    defaultValues: {
      name: '',
      group: groups[0] ?? 'DEFAULT',
      pool: poolId,
      expires: '',
      cap: '',
      addresses: '',
      models: [],
    },
  });
  const { failure, fetching, send } = useCreate(form, onCreated);
  const footer = (
    <>
      <Button variant="ghost" onClick={onClose}>
        {t('dialog.cancel')}
      </Button>
      <Button type="submit" form={FORM_ID} variant="primary" busy={fetching}>
        {fetching ? t('keys.creating') : t('keys.create')}
      </Button>
    </>
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('keys.create')}
      sentence={t('keys.createSentence')}
      footer={footer}
    >
      <form
        id={FORM_ID}
        noValidate
        className="flex flex-col gap-5"
        onSubmit={(event) => void form.handleSubmit(send)(event)}
      >
        {failure !== undefined && (
          <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
            {t('keys.createFailed', { reason: failure })}
          </Banner>
        )}
        <KeyFields form={form} groups={groups} />
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  form: UseFormReturn<KeyForm>;
}

function KeyFields({ form, groups }: FieldsProps & { groups: readonly Group[] }) {
  const { t } = useTranslation();
  const group = form.watch('group');
  return (
    <>
      <Field
        label={t('keys.name')}
        autoComplete="off"
        maxLength={NAME_CHARACTERS_MAX}
        hint={t('keys.nameHint')}
        error={form.formState.errors.name?.message}
        {...form.register('name', { validate: (value) => value.trim() !== '' || t('keys.nameNeeded') })}
      />
      <div className="flex flex-col items-start gap-2">
        <span className="text-table font-[550]">{t('keys.group')}</span>
        <Controller
          control={form.control}
          name="group"
          render={({ field }) => (
            <Segmented
              label={t('keys.group')}
              value={field.value}
              onChange={(chosen) => {
                field.onChange(chosen);
                // The other group may not have the ticked models.
                form.setValue('models', []);
              }}
              options={groups.map((value) => ({ value, word: t(`groups.${value}`) }))}
            />
          )}
        />
        <span className="text-hint text-ink-3">{t('keys.groupHint')}</span>
        {form.watch('pool') === '' && <PriceExamples group={group} />}
      </div>
      <DomainField form={form} />
      <LimitFields form={form} />
      <ModelBoxes group={group} field={form.register('models')} />
    </>
  );
}

/** The domain of the key. Hidden while the account has no running pool. */
function DomainField({ form }: FieldsProps) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: KeyPoolsQuery });
  const running = data?.viewer?.pools.nodes.filter(({ state }) => state === 'ACTIVE' || state === 'EXPIRING');
  if (!running || running.length === 0) return null;
  const main = { value: '', word: t('keys.mainDomain') };
  return (
    <div className="flex flex-col gap-2">
      <Controller
        control={form.control}
        name="pool"
        render={({ field }) => (
          <SelectField
            label={t('keys.domain')}
            value={field.value}
            onChange={field.onChange}
            options={[main, ...running.map(({ id, name }) => ({ value: id, word: name }))]}
          />
        )}
      />
      <span className="text-hint text-ink-3">{t('keys.domainHint')}</span>
    </div>
  );
}

function LimitFields({ form }: FieldsProps) {
  const { t } = useTranslation();
  const { errors } = form.formState;
  const afterToday = (value: string) =>
    (endOfDay(value)?.getTime() ?? Infinity) > Date.now() || t('keys.dateWrong');
  const amount = (value: string) =>
    value === '' || (parseDollars(value.trim()) ?? 0n) > 0n || t('keys.capWrong');
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <Field
        label={t('keys.expires')}
        type="date"
        hint={t('keys.expiresHint')}
        error={errors.expires?.message}
        {...form.register('expires', { validate: afterToday })}
      />
      <Field
        label={t('keys.cap')}
        inputMode="decimal"
        before={<span className="text-ink-3">$</span>}
        hint={t('keys.capHint')}
        error={errors.cap?.message}
        {...form.register('cap', { validate: amount })}
      />
      <div className="col-span-full">
        <Field
          label={t('keys.addresses')}
          hint={t('keys.addressesHint')}
          autoComplete="off"
          spellCheck={false}
          error={errors.addresses?.message}
          {...form.register('addresses')}
        />
      </div>
    </div>
  );
}

/** Sends the form. The error of an address is shown at its field, all others above the form. */
function useCreate(form: FieldsProps['form'], onCreated: (key: Key) => void) {
  const { t } = useTranslation();
  const [{ fetching }, create] = useMutation(CreateKey);
  const [failure, setFailure] = useState<string>();
  const idempotencyKeyFor = useIdempotencyKey();
  const failureWords = useFailureWords();
  const send = async ({ name, group, pool, expires, cap, addresses, models }: KeyForm) => {
    const allowedIps = addressesIn(addresses);
    const values = {
      name: name.trim(),
      group,
      ...(pool !== '' && { poolId: pool }),
      ...(expires !== '' && { expiresAt: endOfDay(expires)?.toISOString() }),
      ...(cap !== '' && { spendLimit: cap.trim() }),
      ...(allowedIps.length > 0 && { allowedIps }),
      ...(models.length > 0 && { allowedModelIds: models }),
    };
    const { data, error } = await create({ input: { ...values, idempotencyKey: idempotencyKeyFor(values) } });
    const key = data?.apiKeyCreate.apiKey;
    if (key) return onCreated(key);
    const isAddress = data?.apiKeyCreate.userErrors[0]?.field?.includes('allowedIps') === true;
    if (isAddress) form.setError('addresses', { message: t('keys.addressesWrong') }, { shouldFocus: true });
    setFailure(isAddress ? undefined : failureWords(error, data?.apiKeyCreate.userErrors));
  };
  return { failure, fetching, send };
}
