/**
 * The card "Add credit" of the wallet page. It opens a dialog with the methods of payment. If none is
 * offered, it says that an administrator adds credit.
 */
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { useTranslation } from '../../translation.ts';
import type { PaymentOptions } from './payment-documents.ts';

const loadDialog = () => import('./add-credit-dialog.tsx');
const AddCreditDialog = lazy(async () => ({ default: (await loadDialog()).AddCreditDialog }));

interface AddCreditProps {
  options: PaymentOptions;
  /** Path of the page to return to after the payment. If it is defined, the dialog opens with the page. */
  back: string | undefined;
}

/**
 * The message about what happens to added credit, or about who adds it if no method of payment is offered.
 */
function sentenceOf({ card, crypto }: PaymentOptions) {
  if (card?.playMoney) return 'wallet.pay.playMoney';
  return card || crypto.length > 0 ? 'wallet.pay.sentence' : 'wallet.topUp';
}

/** The card, and the dialog while it is open. */
export function AddCredit({ options, back }: AddCreditProps) {
  const { t } = useTranslation();
  const isOffered = options.card !== null || options.crypto.length > 0;
  const [open, setOpen] = useState(isOffered && back !== undefined);
  return (
    <section className="rounded-card border border-line bg-raise p-5">
      <h2 className="text-section">{t('wallet.topUpTitle')}</h2>
      <p className="mt-1 text-ink-2">{t(sentenceOf(options))}</p>
      {isOffered && (
        <div className="mt-3">
          <Button variant="primary" onMouseEnter={() => void loadDialog()} onClick={() => setOpen(true)}>
            {t('wallet.pay.open')}
          </Button>
        </div>
      )}
      {open && (
        <Suspense>
          <AddCreditDialog options={options} back={back} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </section>
  );
}
