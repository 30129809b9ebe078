/** Shown if the wallet's cash is less than the total. */
import { Link, useLocation } from '@tanstack/react-router';
import { Wallet } from 'lucide-react';
import { moneyText } from '../../components/money.tsx';
import { Banner } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';
import type { Quote } from './documents.ts';

/** The missing amount, and a link to the wallet. */
export function Shortfall({ quote }: { quote: Quote }) {
  const { t } = useTranslation();
  const { pathname } = useLocation();
  const link = (
    <Link to="/wallet" search={{ back: pathname }} className="font-[550] text-accent underline">
      {t('purchase.toWallet')}
    </Link>
  );
  return (
    <Banner tone="warn" icon={<Wallet size={16} strokeWidth={1.75} aria-hidden="true" />} action={link}>
      {t('purchase.short', { amount: moneyText(quote.shortfall) })}
    </Banner>
  );
}
