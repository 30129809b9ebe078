/** Sets automatic top-ups, and removes the saved card. */
import { useMutation } from 'urql';
import { Button } from '../../components/button.tsx';
import { Checkbox, Field } from '../../components/field.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { TaskDialog } from '../task-dialog.tsx';
import { brandName } from './card-brand.ts';
import { type PaymentWallet, RemoveCard, SetAutoTopUp } from './payment-documents.ts';

/** Values before the first change, in dollars. */
const FIRST = { threshold: '10', amount: '25', monthlyCap: '200' };

/** The dialog. */
export function AutoTopUpDialog({ wallet, onClose }: { wallet: PaymentWallet; onClose: () => void }) {
  const { t } = useTranslation();
  const [, set] = useMutation(SetAutoTopUp);
  const { savedCard: card, autoTopUp: auto } = wallet;
  const values = auto ?? FIRST;
  const send = async (form: FormData) => {
    const input = {
      enabled: form.get('enabled') !== null,
      threshold: textIn(form, 'threshold'),
      amount: textIn(form, 'amount'),
      monthlyCap: textIn(form, 'monthlyCap'),
    };
    const { data, error } = await set({ input });
    return { error, userErrors: data?.autoTopUpSet.userErrors };
  };
  const amountField = (name: 'threshold' | 'amount' | 'monthlyCap') => (
    <Field
      name={name}
      label={t(`wallet.auto.${name}`)}
      before="$"
      inputMode="decimal"
      autoComplete="off"
      required
      defaultValue={values[name]}
    />
  );
  return (
    <TaskDialog
      title={t('wallet.auto.title')}
      sentence={t('wallet.auto.sentence')}
      button={t('wallet.auto.save')}
      send={send}
      onClose={onClose}
    >
      <Checkbox name="enabled" label={t('wallet.auto.enabled')} defaultChecked={auto?.enabled ?? true} />
      {amountField('threshold')}
      {amountField('amount')}
      {amountField('monthlyCap')}
      {card && <CardRow card={card} onRemoved={onClose} />}
    </TaskDialog>
  );
}

interface CardRowProps {
  card: NonNullable<PaymentWallet['savedCard']>;
  onRemoved: () => void;
}

function CardRow({ card, onRemoved }: CardRowProps) {
  const { t } = useTranslation();
  const [{ fetching }, remove] = useMutation(RemoveCard);
  const toast = useToast();
  const forget = async () => {
    const { error } = await remove({});
    if (error) return;
    toast({ text: t('wallet.auto.removed') });
    onRemoved();
  };
  return (
    <p className="flex flex-wrap items-center gap-3 border-t border-line pt-4 text-ink-2">
      {t('wallet.auto.card', { brand: brandName(card.brand), last4: card.last4 })}
      <Button variant="destructive" size="small" busy={fetching} onClick={() => void forget()}>
        {t('wallet.auto.remove')}
      </Button>
    </p>
  );
}
