/** The parts of a quote: price lines, terms, and payment from the wallet. */
import { formatDollars, parseDollars } from '@gateway/shared/money';
import type { TFunction } from 'i18next';
import { Timer } from 'lucide-react';
import { LeaderList, LeaderRow, LeaderSum } from '../../components/leader-row.tsx';
import { Money, moneyText } from '../../components/money.tsx';
import { Stamp } from '../../components/time.tsx';
import { useNow } from '../../components/use-now.ts';
import { useTranslation } from '../../translation.ts';
import type { Quote } from './documents.ts';

const SECOND_MS = 1_000;
const MINUTE_SECONDS = 60;
const TWO_DIGITS = 2;

/** The time until a quote expires, in ms; 0 if it has expired. */
export function useTimeLeft(quote: Quote | undefined): number {
  const now = useNow(SECOND_MS);
  return quote === undefined ? 0 : Math.max(0, Date.parse(quote.expiresAt) - now);
}

/** The time until the quote expires, such as "14:32", or that it has expired. */
export function QuoteTimer({ milliseconds }: { milliseconds: number }) {
  const { t } = useTranslation();
  const seconds = Math.ceil(milliseconds / SECOND_MS);
  const rest = String(seconds % MINUTE_SECONDS).padStart(TWO_DIGITS, '0');
  const time = `${Math.floor(seconds / MINUTE_SECONDS)}:${rest}`;
  return (
    <span className="inline-flex items-center gap-1.5 text-table text-ink-2">
      <Timer size={14} strokeWidth={1.75} aria-hidden="true" />
      {milliseconds > 0 ? t('purchase.held', { time }) : t('purchase.quoteExpired')}
    </span>
  );
}

/** The price lines and their total. */
export function QuoteLines({ quote, included }: { quote: Quote; included: number }) {
  const { t } = useTranslation();
  return (
    <LeaderList>
      {quote.lines.map((line, index) => (
        <LeaderRow key={line.label} {...lineWords(t, { line, index, included, days: quote.periodDays })}>
          <Money amount={line.amount} />
        </LeaderRow>
      ))}
      <LeaderSum name={t('purchase.total')}>
        <Money amount={quote.total} />
      </LeaderSum>
    </LeaderList>
  );
}

interface Line {
  line: Quote['lines'][number];
  index: number;
  included: number;
  days: number;
}

// The service names its lines in English. The first is the base price, the second the additional models.
function lineWords(t: TFunction, { line, index, included, days }: Line) {
  if (index === 0) return { name: t('purchase.lineBase', { days, count: included }) };
  if (index > 1) return { name: line.label };
  return { name: t('purchase.lineAdditional'), note: `${line.quantity} × ${moneyText(line.unitPrice)}` };
}

/** The terms: cap, dates, gift. A new pool starts when it is paid. */
export function QuoteTerms({ quote, renewal = false }: { quote: Quote; renewal?: boolean }) {
  const { t } = useTranslation();
  return (
    <LeaderList>
      <LeaderRow name={<Name word={t('pools.cap')} />}>{t('pools.capOf', { count: quote.rpmCap })}</LeaderRow>
      <LeaderRow name={<Name word={t('pools.starts')} />}>
        {renewal ? <Stamp at={quote.startsAt} /> : t('purchase.onPayment')}
      </LeaderRow>
      <LeaderRow name={<Name word={t('pools.ends')} />}>
        <Stamp at={quote.endsAt} />
      </LeaderRow>
      <LeaderRow name={<Name word={t('purchase.gift')} />}>
        <Money amount={quote.giftCredit} signed className="text-good" />
      </LeaderRow>
    </LeaderList>
  );
}

/** Cash before and after the payment, or the missing amount. */
export function QuoteCash({ quote }: { quote: Quote }) {
  const { t } = useTranslation();
  const after = (parseDollars(quote.payableFrom) ?? 0n) - (parseDollars(quote.total) ?? 0n);
  return (
    <LeaderList>
      <LeaderRow name={<Name word={t('purchase.cashNow')} />}>
        <Money amount={quote.payableFrom} />
      </LeaderRow>
      {isShort(quote) ? (
        <LeaderRow name={<Name word={t('purchase.missing')} />}>
          <Money amount={quote.shortfall} className="font-semibold text-bad" />
        </LeaderRow>
      ) : (
        <LeaderRow name={<Name word={t('purchase.cashAfter')} />}>
          <Money amount={formatDollars(after)} />
        </LeaderRow>
      )}
    </LeaderList>
  );
}

/** Whether the wallet's cash is less than the total. */
export function isShort({ shortfall }: Pick<Quote, 'shortfall'>): boolean {
  return /[1-9]/.test(shortfall);
}

function Name({ word }: { word: string }) {
  return <span className="text-ink-2">{word}</span>;
}
