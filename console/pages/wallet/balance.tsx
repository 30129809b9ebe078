/** The available balance and its parts. */
import { MICROS_PER_DOLLAR, parseDollars } from '@gateway/shared/money';
import { Link } from '@tanstack/react-router';
import { LeaderList, LeaderRow, LeaderSum } from '../../components/leader-row.tsx';
import { Money, moneyText } from '../../components/money.tsx';
import { ShareBar } from '../../components/share-bar.tsx';
import { stampText } from '../../components/time.tsx';
import { useTranslation } from '../../translation.ts';
import type { Wallet } from './documents.ts';

/** The balance, a bar of its parts, and the sum that explains it. */
export function Balance({ wallet }: { wallet: Wallet }) {
  const { t, i18n } = useTranslation();
  const { cash, gift, held, available, receivable } = wallet;
  const parts = [
    { tone: 'first', share: shareOf(cash) },
    { tone: 'second', share: shareOf(gift) },
    { tone: 'held', share: shareOf(held) },
  ] as const;
  return (
    <section className="min-w-0 max-w-[640px]" aria-label={t('wallet.available')}>
      <p className="text-table text-ink-2">{t('wallet.availableNow')}</p>
      <p className="text-balance">
        <Money amount={available} />
      </p>
      <ShareBar
        parts={parts}
        label={t('wallet.split', { cash: moneyText(cash), gift: moneyText(gift), reserved: moneyText(held) })}
      />
      <LeaderList>
        <LeaderRow name={<Key tone="bg-s1" word={t('wallet.cash')} />} note={t('wallet.cashNote')}>
          <Money amount={cash} />
        </LeaderRow>
        <LeaderRow name={<Key tone="bg-s2" word={t('wallet.gift')} />} note={t('wallet.giftNote')}>
          <Money amount={gift} />
        </LeaderRow>
        {/[1-9]/.test(receivable) && (
          <LeaderRow name={t('wallet.owed')} note={t('wallet.owedNote')}>
            <Money amount={`-${receivable}`} className="text-bad" />
          </LeaderRow>
        )}
        <LeaderSum name={t('wallet.available')}>
          <Money amount={available} />
        </LeaderSum>
        <LeaderRow name={<Key tone="hatched" word={t('wallet.reserved')} />} note={t('wallet.reservedNote')}>
          <Money amount={held} />
        </LeaderRow>
      </LeaderList>
      <Warning wallet={wallet} />
      <Budget wallet={wallet} />
      <p className="mt-2 text-right text-hint text-ink-3">
        {t('state.asOf', { time: stampText(new Date(), i18n.language, true) })}
      </p>
    </section>
  );
}

function Warning({ wallet }: { wallet: Wallet }) {
  const { t } = useTranslation();
  const { cash, gift, held, lowBalanceThreshold: threshold } = wallet;
  const balance = [cash, gift, held].reduce((sum, part) => sum + (parseDollars(part) ?? 0n), 0n);
  const isLow = threshold !== null && balance < (parseDollars(threshold) ?? 0n);
  return (
    <p className="flex flex-wrap items-baseline gap-x-3 border-t border-line pt-2 text-ink-2">
      <span>{t('wallet.warning')}</span>
      <span className={`ml-auto text-right ${isLow ? 'text-warn' : 'text-ink'}`}>
        {threshold === null
          ? t('wallet.warningOff')
          : t(isLow ? 'wallet.warningNow' : 'wallet.warningAt', { amount: moneyText(threshold) })}
      </span>
      <Link to="/profile/notifications" className="text-accent underline max-[359px]:ml-auto">
        {t('wallet.warningEdit')}
      </Link>
    </p>
  );
}

/** The share of the monthly budget from which its row warns, in percent. */
const NEAR_BUDGET = 80n;

function Budget({ wallet: { budget } }: { wallet: Wallet }) {
  const { t } = useTranslation();
  const { monthly, spentThisMonth } = budget;
  const [limit, spent] = [parseDollars(monthly ?? '0') ?? 0n, parseDollars(spentThisMonth) ?? 0n];
  const isNear = monthly !== null && spent * 100n >= limit * NEAR_BUDGET;
  return (
    <p className="mt-2 flex flex-wrap items-baseline gap-x-3 border-t border-line pt-2 text-ink-2">
      <span>{t('wallet.budget')}</span>
      <span className={`ml-auto text-right ${isNear ? 'text-warn' : 'text-ink'}`}>
        {monthly === null
          ? t('wallet.warningOff')
          : t('wallet.budgetSpent', { spent: moneyText(spentThisMonth), budget: moneyText(monthly) })}
      </span>
      <Link to="/profile/notifications" className="text-accent underline max-[359px]:ml-auto">
        {t('wallet.budgetEdit')}
      </Link>
    </p>
  );
}

function Key({ tone, word }: { tone: string; word: string }) {
  return (
    <span className="flex items-center gap-2 font-[550]">
      <span className={`drawn size-2.5 flex-none rounded-[3px] ${tone}`} aria-hidden="true" />
      {word}
    </span>
  );
}

// Only for the length of a bar, so cents are precise enough.
function shareOf(amount: string): number {
  return Number(((parseDollars(amount) ?? 0n) * 100n) / MICROS_PER_DOLLAR);
}
