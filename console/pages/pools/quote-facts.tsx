/**
 * The parts of a quote for a dedicated pool: remaining time, price lines, terms, and payment from the wallet.
 */
import { formatDollars, parseDollars } from '@gateway/shared/money';
import { Timer } from 'lucide-react';
import { LeaderList, LeaderRow, LeaderSum } from '../../components/leader-row.tsx';
import { Money, moneyText } from '../../components/money.tsx';
import { Stamp } from '../../components/time.tsx';
import { useNow } from '../../components/use-now.ts';
import { type TFunction, useTranslation } from '../../translation.ts';
import type { Quote } from './documents.ts';
import type { QuoteState } from './use-quote.ts';

const SECOND_MS = 1_000;
const MINUTE_SECONDS = 60;
const TWO_DIGITS = 2;

/** The time until a quote expires, in ms; 0 if it has expired. */
export function useTimeLeft({ expiresAt }: Pick<QuoteState, 'expiresAt'>): number {
  return Math.max(0, expiresAt - useNow(SECOND_MS));
}

/** Shows the remaining time of a quote, such as "14:32", or that the quote has expired. */
export function QuoteTimer({ milliseconds }: { milliseconds: number }) {
  const { t } = useTranslation();
  const seconds = Math.ceil(milliseconds / SECOND_MS);
  const remainder = String(seconds % MINUTE_SECONDS).padStart(TWO_DIGITS, '0');
  const time = `${Math.floor(seconds / MINUTE_SECONDS)}:${remainder}`;
  return (
    <span className="inline-flex items-center gap-1.5 text-table text-ink-2">
      <Timer size={14} strokeWidth={1.75} aria-hidden="true" />
      {milliseconds > 0 ? t('purchase.held', { time }) : t('purchase.quoteExpired')}
    </span>
  );
}

/** The price lines and their total. `included`: number of models that the base price pays for. */
export function QuoteLines({ quote, included }: { quote: Quote; included: number }) {
  const { t } = useTranslation();
  return (
    <LeaderList>
      {quote.lines.map((line, index) => (
        <LeaderRow key={line.label} {...lineTexts(t, { line, index, included, days: quote.periodDays })}>
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
  line: Pick<Quote['lines'][number], 'label' | 'quantity' | 'unitPrice'>;
  /** Index of the line in the quote. */
  index: number;
  included: number;
  days: number;
}

/** The API's label of the price line for additional models. */
const ADDITIONAL_MODELS = 'Further model';

/**
 * The translated label of a price line. The API has English labels only. The first line of a quote is the
 * base price. The console shows an unknown label in English.
 */
export function lineTexts(t: TFunction, { line, index, included, days }: Line) {
  if (index === 0) return { name: t('purchase.lineBase', { days, count: included }) };
  if (line.label !== ADDITIONAL_MODELS) return { name: line.label };
  return { name: t('purchase.lineAdditional'), note: `${line.quantity} × ${moneyText(line.unitPrice)}` };
}

/** The terms: requests per minute, start, end and gift credit. A new pool starts with its payment. */
export function QuoteTerms({ quote, renewal = false }: { quote: Quote; renewal?: boolean }) {
  const { t } = useTranslation();
  return (
    <LeaderList>
      <LeaderRow name={<Name text={t('pools.cap')} />}>{t('pools.capOf', { count: quote.rpmCap })}</LeaderRow>
      <LeaderRow name={<Name text={t('pools.starts')} />}>
        {renewal ? <Stamp at={quote.startsAt} /> : t('purchase.onPayment')}
      </LeaderRow>
      <LeaderRow name={<Name text={t('pools.ends')} />}>
        <Stamp at={quote.endsAt} />
      </LeaderRow>
      <LeaderRow name={<Name text={t('purchase.gift')} />}>
        <Money amount={quote.giftCredit} signed className="text-good" />
      </LeaderRow>
    </LeaderList>
  );
}

/**
 * The cash of the wallet. If it covers the total, also the cash after the payment, else the missing amount.
 */
export function QuoteCash({ quote }: { quote: Quote }) {
  const { t } = useTranslation();
  const cashAfter = (parseDollars(quote.payableFrom) ?? 0n) - (parseDollars(quote.total) ?? 0n);
  return (
    <LeaderList>
      <LeaderRow name={<Name text={t('purchase.cashNow')} />}>
        <Money amount={quote.payableFrom} />
      </LeaderRow>
      {hasTooLittleCash(quote) ? (
        <LeaderRow name={<Name text={t('purchase.missing')} />}>
          <Money amount={quote.shortfall} className="font-semibold text-bad" />
        </LeaderRow>
      ) : (
        <LeaderRow name={<Name text={t('purchase.cashAfter')} />}>
          <Money amount={formatDollars(cashAfter)} />
        </LeaderRow>
      )}
    </LeaderList>
  );
}

/** Whether the cash of the wallet is less than the total. */
export function hasTooLittleCash({ shortfall }: Pick<Quote, 'shortfall'>): boolean {
  // A decimal string is zero if it has no digit from 1 to 9.
  return /[1-9]/.test(shortfall);
}

function Name({ text }: { text: string }) {
  return <span className="text-ink-2">{text}</span>;
}
