/** Dialogs that open or close the storefront, and edit its terms. */
import { useMutation } from 'urql';
import type { VariablesOf } from '../../../graphql.ts';
import { Checkbox, Field } from '../../../components/field.tsx';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Money } from '../../../components/money.tsx';
import { CheckField } from '../../../components/select-field.tsx';
import { useTranslation } from '../../../translation.ts';
import { textIn } from '../../form-values.ts';
import { FormDialog, text } from '../form-dialog.tsx';
import { type AdminStorefront, type OfferedModel, SetStorefront, type StorefrontTask } from './documents.ts';

const MESSAGE_CHARACTERS_MAX = 500;
const AMOUNT = '[0-9]+([.][0-9]{1,6})?';
const RPM_CAP_MAX = 100_000;

interface DialogProps {
  storefront: AdminStorefront;
  models: readonly OfferedModel[];
  onClose: () => void;
}

/** The dialog of one task. */
export function StorefrontDialogs({ task, ...props }: DialogProps & { task: StorefrontTask }) {
  return task === 'state' ? <StateDialog {...props} /> : <TermsDialog {...props} />;
}

type Change = Omit<VariablesOf<typeof SetStorefront>['input'], 'version' | 'reason'>;

function useChange({ version }: AdminStorefront) {
  const [, set] = useMutation(SetStorefront);
  return async (change: Change, reason: string) => {
    const { data, error } = await set({ input: { ...change, version, reason } });
    return { error, userErrors: data?.adminStorefrontSet.userErrors };
  };
}

// The initial prices come with the installation, so the first opening asks the administrator to confirm them.
function StateDialog({ storefront, onClose }: DialogProps) {
  const { t } = useTranslation();
  const change = useChange(storefront);
  const opening = storefront.state === 'CLOSED';
  const first = opening && !storefront.pricesConfirmed;
  return (
    <FormDialog
      title={t(opening ? 'storefront.openTitle' : 'storefront.closeTitle')}
      sentence={
        opening
          ? t('storefront.openSentence')
          : t('storefront.closeSentence', { count: storefront.openQuotes ?? 0 })
      }
      button={t(opening ? 'storefront.openButton' : 'storefront.closeButton')}
      destructive={!opening}
      onClose={onClose}
      send={(values, reason) =>
        change(
          {
            state: opening ? 'OPEN' : 'CLOSED',
            message: messageIn(values),
            ...(first && { confirmPrices: values.has('confirm') }),
          },
          reason,
        )
      }
    >
      {first && <Confirmation storefront={storefront} />}
      <MessageField message={storefront.message} />
    </FormDialog>
  );
}

function Confirmation({ storefront }: Pick<DialogProps, 'storefront'>) {
  const { t } = useTranslation();
  const { includedModels, periodDays } = storefront;
  return (
    <div>
      <LeaderList>
        <LeaderRow name={t('storefront.basePrice', { count: includedModels, days: periodDays })}>
          <Money amount={storefront.basePrice} />
        </LeaderRow>
        <LeaderRow name={t('storefront.extraPrice')}>
          <Money amount={storefront.extraModelPrice} />
        </LeaderRow>
        <LeaderRow name={t('storefront.gift')}>
          <Money amount={storefront.giftCredit} />
        </LeaderRow>
      </LeaderList>
      <div className="mt-3">
        <Checkbox name="confirm" required label={t('storefront.confirm')} />
      </div>
    </div>
  );
}

function MessageField({ message }: Pick<AdminStorefront, 'message'>) {
  const { t } = useTranslation();
  return (
    <Field
      label={t('storefront.message')}
      name="message"
      maxLength={MESSAGE_CHARACTERS_MAX}
      defaultValue={message ?? ''}
      hint={t('storefront.messageHint')}
      autoComplete="off"
    />
  );
}

function TermsDialog({ storefront, models, onClose }: DialogProps) {
  const { t } = useTranslation();
  const change = useChange(storefront);
  const offered = storefront.offeredModels.map(({ id }) => id);
  return (
    <FormDialog
      title={t('storefront.editTitle')}
      sentence={t('storefront.editSentence')}
      button={t('admin.save')}
      wide
      onClose={onClose}
      send={(values, reason) => change(termsIn(values, models, offered), reason)}
    >
      <Amounts storefront={storefront} />
      <Checkbox
        name="free"
        label={t('storefront.freeLabel')}
        hint={t('storefront.freeHint')}
        defaultChecked={storefront.poolRequestsFree}
      />
      <div>
        <CheckField
          legend={t('storefront.offered')}
          name="models"
          checked={offered}
          options={models.map(({ id, name }) => ({ value: id, word: name }))}
        />
        <p className="mt-2 text-hint text-ink-3">{t('storefront.offeredHint')}</p>
      </div>
      <MessageField message={storefront.message} />
    </FormDialog>
  );
}

function Amounts({ storefront }: Pick<DialogProps, 'storefront'>) {
  const { t } = useTranslation();
  const { basePrice, extraModelPrice, giftCredit, rpmCap, includedModels, periodDays } = storefront;
  const amounts = [
    {
      name: 'basePrice',
      label: t('storefront.basePrice', { count: includedModels, days: periodDays }),
      value: basePrice,
    },
    { name: 'extraModelPrice', label: t('storefront.extraPrice'), value: extraModelPrice },
    { name: 'giftCredit', label: t('storefront.gift'), value: giftCredit },
  ];
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      {amounts.map(({ name, label, value }) => (
        <Field
          key={name}
          label={label}
          name={name}
          inputMode="decimal"
          required
          pattern={AMOUNT}
          before={<span className="text-ink-3">$</span>}
          defaultValue={value}
          autoComplete="off"
        />
      ))}
      <Field
        label={t('storefront.rpmCap')}
        name="rpmCap"
        type="number"
        required
        min={1}
        max={RPM_CAP_MAX}
        defaultValue={rpmCap}
      />
    </div>
  );
}

function messageIn(values: FormData): string | null {
  const message = text(values, 'message');
  return message === '' ? null : message;
}

/** The terms in the form. Models are sent only if they changed; null offers all models, also later ones. */
function termsIn(values: FormData, models: readonly OfferedModel[], offered: readonly string[]): Change {
  const chosen = models.map(({ id }) => id).filter((id) => values.getAll('models').includes(id));
  const same = chosen.length === offered.length && chosen.every((id) => offered.includes(id));
  return {
    basePrice: text(values, 'basePrice'),
    extraModelPrice: text(values, 'extraModelPrice'),
    giftCredit: text(values, 'giftCredit'),
    rpmCap: Number(textIn(values, 'rpmCap')),
    poolRequestsFree: values.has('free'),
    message: messageIn(values),
    ...(!same && { offeredModelIds: chosen.length === models.length ? null : chosen }),
  };
}
