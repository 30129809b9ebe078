/** The methods of payment: a card, and deposits on blockchains. */
import { Dialog } from '../../components/dialog.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { useTranslation } from '../../translation.ts';
import { CardForm } from './card-form.tsx';
import { DepositForm } from './deposit-form.tsx';
import type { PaymentOptions } from './payment-documents.ts';

interface AddCreditDialogProps {
  options: PaymentOptions;
  /** Path of the console to return to after the payment. */
  back: string | undefined;
  onClose: () => void;
}

/** A tab for each method, or the only method without tabs. */
export function AddCreditDialog({ options, back, onClose }: AddCreditDialogProps) {
  const { t } = useTranslation();
  const { card, crypto } = options;
  const byCard = card && <CardForm terms={card} back={back} />;
  const byCrypto = crypto.length > 0 && <DepositForm tokens={crypto} />;
  const tabs = [
    ...(byCard ? [{ id: 'card', word: t('wallet.pay.byCard'), content: byCard }] : []),
    ...(byCrypto ? [{ id: 'crypto', word: t('wallet.pay.byCrypto'), content: byCrypto }] : []),
  ];
  return (
    <Dialog open onClose={onClose} title={t('wallet.topUpTitle')}>
      {tabs.length === 1 ? tabs[0]?.content : <Tabs label={t('wallet.topUpTitle')} tabs={tabs} />}
    </Dialog>
  );
}
