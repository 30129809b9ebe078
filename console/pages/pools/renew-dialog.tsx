/** Buys another period of a pool: shows price and dates, with the total on the button. */
import { useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { moneyText } from '../../components/money.tsx';
import { SkeletonRows } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { useIdempotencyKey } from '../idempotency.ts';
import { FailureBanner } from '../task-dialog.tsx';
import { useSubmit } from '../use-submit.ts';
import { type Pool, type Quote, RenewPool } from './documents.ts';
import {
  QuoteTimer,
  hasTooLittleCash,
  QuoteCash,
  QuoteLines,
  QuoteTerms,
  useTimeLeft,
} from './quote-facts.tsx';
import { Shortfall } from './shortfall.tsx';
import { useQuote } from './use-quote.ts';

const Included = graphql(`
  query IncludedModels {
    poolStorefront {
      includedModels
    }
  }
`);

interface RenewProps {
  pool: Pick<Pool, 'id' | 'name'>;
  onClose: () => void;
}

const FORM_ID = 'renew-pool';

/** The dialog. If the price changed or the quote expired, it gets a new quote to confirm. */
export function RenewDialog({ pool, onClose }: RenewProps) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: Included });
  const quoteState = useQuote({ renewPoolId: pool.id });
  const { quote, current, failure, again } = quoteState;
  const left = useTimeLeft(quoteState);
  const { busy, refused, submit } = useRenewal({ pool, quote, again, onClose });
  const payable = quote !== undefined && current && left > 0;
  const pay = (
    <Button type="submit" form={FORM_ID} variant="primary" busy={busy || !current}>
      {quote && current ? t('purchase.pay', { total: moneyText(quote.total) }) : t('purchase.pricing')}
    </Button>
  );
  const footer = (
    <>
      <Button variant="ghost" onClick={onClose}>
        {t('dialog.cancel')}
      </Button>
      {payable && !hasTooLittleCash(quote) && pay}
      {!payable && (failure !== undefined || (current && left === 0)) && (
        <Button onClick={again}>{t('purchase.newPrice')}</Button>
      )}
    </>
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('purchase.renewTitle', { name: pool.name })}
      sentence={t('purchase.renewSentence')}
      footer={footer}
    >
      <form id={FORM_ID} className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        {(refused ?? failure) !== undefined && <FailureBanner words={refused ?? failure ?? ''} />}
        {!quote && failure === undefined && <SkeletonRows rows={5} height="h-8" />}
        {quote && (
          <div className="flex flex-col gap-4" aria-busy={!current}>
            <QuoteTimer milliseconds={left} />
            <QuoteLines quote={quote} included={data?.poolStorefront.includedModels ?? 0} />
            <QuoteTerms quote={quote} renewal />
            <QuoteCash quote={quote} />
            {hasTooLittleCash(quote) && <Shortfall quote={quote} />}
          </div>
        )}
      </form>
    </Dialog>
  );
}

interface Renewal extends RenewProps {
  quote: Quote | undefined;
  again: () => void;
}

function useRenewal({ pool, quote, again, onClose }: Renewal) {
  const { t } = useTranslation();
  const [, renew] = useMutation(RenewPool);
  const keyFor = useIdempotencyKey();
  const toast = useToast();
  const { busy, failure, submit } = useSubmit({
    send: async () => {
      if (!quote) return undefined;
      const values = { poolId: pool.id, quoteId: quote.id, expectedTotal: quote.total };
      const { data, error } = await renew({ input: { ...values, idempotencyKey: keyFor(values) } });
      const userErrors = data?.poolRenew.userErrors;
      if (userErrors && userErrors.length > 0) again();
      return { error, userErrors };
    },
    onDone: () => {
      toast({ text: t('purchase.renewed', { name: pool.name }) });
      onClose();
    },
  });
  return { busy, refused: failure, submit };
}
