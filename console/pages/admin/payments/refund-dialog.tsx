/** The dialog that refunds a part or all of a payment by card. */
import { useRef, useState } from 'react';
import { useMutation } from 'urql';
import { formatDollars, parseDollars } from '@gateway/shared/money';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Money, moneyText } from '../../../components/money.tsx';
import { useToast } from '../../../components/toast.tsx';
import { useTranslation } from '../../../translation.ts';
import { useIdempotencyKey } from '../../idempotency.ts';
import { FormDialog } from '../form-dialog.tsx';
import type { TopUpDetail } from './documents.ts';
import { AmountField } from './fields.tsx';
import { worded } from './refusal-words.ts';
import { RefundTopUp } from './refund-documents.ts';

interface RefundProps {
  topUp: TopUpDetail;
  /** The amount that is not refunded yet. */
  left: string;
  onClose: () => void;
}

/** The dialog. It proposes the whole amount that is not refunded yet. */
export function RefundDialog({ topUp, left, onClose }: RefundProps) {
  const { t } = useTranslation();
  const toast = useToast();
  const [amount, setAmount] = useState(left);
  const refund = useRefund(topUp.id);
  const known = parseDollars(amount.trim());
  const sum = known ? moneyText(formatDollars(known)) : undefined;
  return (
    <FormDialog
      title={t('payments.refund.title', { amount: moneyText(topUp.credited) })}
      sentence={t(topUp.playMoney ? 'payments.refund.playSentence' : 'payments.refund.sentence')}
      button={
        sum === undefined ? t('payments.refund.buttonEmpty') : t('payments.refund.button', { amount: sum })
      }
      destructive
      onClose={onClose}
      onDone={() => {
        toast({ text: t('payments.refund.done', { amount: sum ?? '' }) });
        onClose();
      }}
      send={(_, reason) => refund({ amount: amount.trim(), reason })}
    >
      <LeaderList>
        <LeaderRow name={t('payments.refund.left')}>
          <Money amount={left} />
        </LeaderRow>
        {topUp.user && (
          <LeaderRow name={t(topUp.playMoney ? 'payments.refund.gift' : 'payments.refund.cash')}>
            <Money amount={topUp.playMoney ? topUp.user.wallet.gift : topUp.user.wallet.cash} />
          </LeaderRow>
        )}
      </LeaderList>
      <AmountField
        label={t('payments.refund.amount')}
        value={amount}
        onChange={(event) => setAmount(event.target.value)}
        hint={t('payments.refund.amountHint', { amount: moneyText(left) })}
      />
    </FormDialog>
  );
}

/** Returns a function that sends the refund. */
function useRefund(topUpId: string) {
  const { t } = useTranslation();
  const [, refund] = useMutation(RefundTopUp);
  const idempotencyKeyFor = useIdempotencyKey();
  // Each refusal ends a key: the service would answer a repeated key as if the refund had been made.
  const refusals = useRef(0);
  return async (values: { amount: string; reason: string }) => {
    const input = { topUpId, ...values };
    const idempotencyKey = idempotencyKeyFor({ ...input, refusals: refusals.current });
    const { data, error } = await refund({ input: { ...input, idempotencyKey } });
    const errors = data?.adminTopUpRefund.userErrors;
    if (errors?.length) refusals.current += 1;
    const userErrors = worded(errors, {
      INSUFFICIENT_BALANCE: t('payments.refund.noCash'),
      PAYMENT_PROVIDER_ERROR: t('payments.refund.refused'),
      CONFLICT: t('payments.refund.notOffered'),
    });
    return { error, userErrors };
  };
}
