/** Automatic top-ups with the saved card: their terms, and why they are off. */
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { moneyText } from '../../components/money.tsx';
import { useTranslation } from '../../translation.ts';
import { brandName } from './card-brand.ts';
import type { PaymentWallet } from './payment-documents.ts';

const loadDialog = () => import('./auto-top-up-dialog.tsx');
const AutoTopUpDialog = lazy(async () => ({ default: (await loadDialog()).AutoTopUpDialog }));

/** The card of the wallet page. A card has to be saved first. */
export function AutoTopUp({ wallet }: { wallet: PaymentWallet }) {
  const { t } = useTranslation();
  const [open, setOpen] = useState(false);
  const { savedCard: card, autoTopUp: auto } = wallet;
  return (
    <section className="mt-4 rounded-card border border-line bg-raise p-5">
      <div className="flex items-baseline gap-3">
        <h2 className="text-section">{t('wallet.auto.title')}</h2>
        {card && (
          <span className="ml-auto">
            <Button size="small" onMouseEnter={() => void loadDialog()} onClick={() => setOpen(true)}>
              {t('wallet.warningEdit')}
            </Button>
          </span>
        )}
      </div>
      <p className="mt-1 text-ink-2">{useWords(wallet)}</p>
      {card && auto?.enabled && (
        <p className="mt-1 text-hint text-ink-3">
          {t('wallet.auto.spent', {
            amount: moneyText(auto.spentThisMonth),
            cap: moneyText(auto.monthlyCap),
          })}
        </p>
      )}
      {open && card && (
        <Suspense>
          <AutoTopUpDialog wallet={wallet} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </section>
  );
}

/** One sentence that says when the wallet is topped up automatically. */
function useWords({ savedCard: card, autoTopUp: auto }: PaymentWallet): string {
  const { t } = useTranslation();
  if (auto?.offReason) return t(`wallet.auto.off.${auto.offReason}`);
  if (!card) return t('wallet.auto.noCard');
  const name = { brand: brandName(card.brand), last4: card.last4 };
  if (!auto?.enabled) return t('wallet.auto.isOff', name);
  const { amount, threshold } = auto;
  return t('wallet.auto.isOn', { ...name, amount: moneyText(amount), threshold: moneyText(threshold) });
}
