/** The quote beside the purchase form, with the button that pays it. */
import { CircleAlert, Store } from 'lucide-react';
import { Button } from '../../components/button.tsx';
import { moneyText } from '../../components/money.tsx';
import { Banner, SkeletonRows } from '../../components/notice.tsx';
import { useTranslation } from '../../translation.ts';
import { NotifyMe } from './notify-me.tsx';
import type { Storefront } from './storefront-documents.ts';
import {
  QuoteTimer,
  hasTooLittleCash,
  QuoteCash,
  QuoteLines,
  QuoteTerms,
  useTimeLeft,
} from './quote-facts.tsx';
import { Shortfall } from './shortfall.tsx';
import type { QuoteState } from './use-quote.ts';

interface QuotePanelProps {
  storefront: Storefront;
  quoteState: QuoteState;
  /** Whether any model is picked. */
  wanted: boolean;
  /** Why the last payment was refused. */
  refused: string | undefined;
  busy: boolean;
}

/** The panel. While the storefront is closed, it says so. */
export function QuotePanel({ storefront, quoteState, wanted, refused, busy }: QuotePanelProps) {
  const { t } = useTranslation();
  const { quote, current, failure } = quoteState;
  const left = useTimeLeft(quoteState);
  const closed = storefront.state === 'CLOSED';
  return (
    <aside aria-label={t('purchase.quote')} className={PANEL}>
      <div className="flex flex-wrap items-center justify-between gap-2 px-5 pt-4">
        <h3 className="text-section">{t('purchase.quote')}</h3>
        {quote && current && !closed && <QuoteTimer milliseconds={left} />}
      </div>
      <div className="flex flex-col gap-3 px-5 pt-2 pb-3" aria-busy={wanted && !current}>
        {!wanted && (
          <p className="text-ink-2">{t('purchase.pickFirst', { price: moneyText(storefront.basePrice) })}</p>
        )}
        {wanted && !quote && failure === undefined && !closed && <SkeletonRows rows={4} height="h-8" />}
        {quote && <QuoteLines quote={quote} included={storefront.includedModels} />}
        {quote && <QuoteTerms quote={quote} />}
      </div>
      {quote && (
        <div className="border-y border-line bg-sunk px-5 py-2">
          <QuoteCash quote={quote} />
        </div>
      )}
      <div className="flex flex-col gap-3 p-5">
        {closed && <Closed words={t('purchase.closedNow')} />}
        {closed && <NotifyMe />}
        {!closed && refused !== undefined && <Refused words={refused} />}
        {!closed && failure !== undefined && <Refused words={failure} />}
        {quote && current && hasTooLittleCash(quote) && !closed && <Shortfall quote={quote} />}
        {!closed && <Pay {...{ quoteState, left, wanted, busy }} />}
        <p className="text-hint text-ink-2">{t('purchase.fromCash')}</p>
      </div>
    </aside>
  );
}

const PANEL =
  'rounded-card border border-line bg-raise xl:sticky xl:top-[72px] xl:shadow-float xl:self-start';

/** In place of the form of a closed storefront: that it is closed, and an offer to notify the user. */
export function ClosedStorefront() {
  const { t } = useTranslation();
  return (
    <div className="flex max-w-[640px] flex-col items-start gap-3">
      <Closed words={t('purchase.closedEmpty')} />
      <NotifyMe />
    </div>
  );
}

function Closed({ words }: { words: string }) {
  return (
    <Banner tone="warn" icon={<Store size={16} strokeWidth={1.75} aria-hidden="true" />}>
      {words}
    </Banner>
  );
}

function Refused({ words }: { words: string }) {
  return (
    <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
      {words}
    </Banner>
  );
}

interface PayProps extends Pick<QuotePanelProps, 'quoteState' | 'wanted' | 'busy'> {
  left: number;
}

// Enabled even if nothing is picked: a press shows what is missing.
function Pay({ quoteState: { quote, current, failure, again }, left, wanted, busy }: PayProps) {
  const { t } = useTranslation();
  if (wanted && (failure !== undefined || (quote && current && left === 0))) {
    return (
      <Button size="form" wide onClick={again}>
        {t('purchase.newPrice')}
      </Button>
    );
  }
  const word = () => {
    if (!wanted) return t('purchase.buy');
    return quote && current ? t('purchase.pay', { total: moneyText(quote.total) }) : t('purchase.pricing');
  };
  return (
    <Button type="submit" variant="primary" size="form" wide busy={busy || (wanted && !current)}>
      {word()}
    </Button>
  );
}
