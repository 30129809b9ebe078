/** Begins a top-up by card, and leads to the processor's page. Card data is entered only there. */
import { Info } from 'lucide-react';
import { useState } from 'react';
import { useMutation } from 'urql';
import { Button, buttonClass } from '../../components/button.tsx';
import { Checkbox, Field } from '../../components/field.tsx';
import { moneyText } from '../../components/money.tsx';
import { Banner } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';
import { useIdempotencyKey } from '../idempotency.ts';
import { FailureBanner } from '../task-dialog.tsx';
import { useSubmit } from '../use-submit.ts';
import { BeginTopUp, type PaymentOptions } from './payment-documents.ts';

interface CardFormProps {
  terms: NonNullable<PaymentOptions['card']>;
  back: string | undefined;
}

/** Amounts to choose or to type, and the button that opens the processor's page. */
export function CardForm({ terms, back }: CardFormProps) {
  const { t } = useTranslation();
  const [amount, setAmount] = useState(terms.presets[0] ?? terms.amountMin);
  const { busy, failure, submit } = useBegin(amount, back);
  const range = { min: moneyText(terms.amountMin), max: moneyText(terms.amountMax) };
  return (
    <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
      {terms.playMoney && (
        <Banner tone="accent" icon={<Info size={16} strokeWidth={1.75} aria-hidden="true" />}>
          {t('wallet.pay.playMoney')}
        </Banner>
      )}
      {failure !== undefined && <FailureBanner words={failure} />}
      <div className="flex flex-wrap gap-2" role="group" aria-label={t('wallet.pay.presets')}>
        {terms.presets.map((preset) => (
          <button
            key={preset}
            type="button"
            aria-pressed={preset === amount}
            className={PRESET}
            onClick={() => setAmount(preset)}
          >
            {moneyText(preset)}
          </button>
        ))}
      </div>
      <Field
        label={t('wallet.pay.amount')}
        hint={t('wallet.pay.range', range)}
        before="$"
        inputMode="decimal"
        autoComplete="off"
        required
        value={amount}
        onChange={(event) => setAmount(event.target.value.trim())}
      />
      <Checkbox name="save" label={t('wallet.pay.save')} hint={t('wallet.pay.saveHint')} />
      <Button type="submit" variant="primary" size="form" busy={busy}>
        {t('wallet.pay.continue')}
      </Button>
      <p className="text-hint text-ink-3">{t('wallet.pay.cardNote')}</p>
    </form>
  );
}

const CHOSEN = 'aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent';
const PRESET = `${buttonClass({})} ${CHOSEN}`;

function useBegin(amount: string, back: string | undefined) {
  const [, begin] = useMutation(BeginTopUp);
  const keyFor = useIdempotencyKey();
  return useSubmit({
    send: async (values) => {
      const input = { amount, saveCard: values.get('save') !== null, returnPath: back ?? null };
      const { data, error } = await begin({ input: { ...input, idempotencyKey: keyFor(input) } });
      const address = data?.topUpCardCreate.topUp?.checkoutUrl;
      if (address) location.assign(address);
      return { error, userErrors: data?.topUpCardCreate.userErrors };
    },
    onDone: () => undefined,
  });
}
