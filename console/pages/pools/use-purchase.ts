/** Pays a quote. Shows missing values at their fields, and the service's error otherwise. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from 'urql';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { refusalText } from '../refusal-text.ts';
import { useIdempotencyKey } from '../idempotency.ts';
import { PurchasePool } from './documents.ts';
import type { QuoteState } from './use-quote.ts';

/** Errors by field. */
export interface PurchaseErrors {
  models?: string;
  subdomain?: string;
  name?: string;
}

interface Order {
  subdomain: string;
  name: string;
  autoRenew: boolean;
  /** How many models are picked. */
  count: number;
}

/** Error codes after which a new quote is needed. */
const PRICE_CODES = ['QUOTE_EXPIRED', 'PRICE_CHANGED', 'MODEL_UNAVAILABLE', 'INSUFFICIENT_BALANCE'];

/** Returns a function that sends an order, and its errors. Goes to the new pool after the payment. */
export function usePurchase({ quoteState, onRefused }: { quoteState: QuoteState; onRefused: () => void }) {
  const navigate = useNavigate();
  const missing = useMissing();
  const failureWords = useFailureWords();
  const keyFor = useIdempotencyKey();
  const [{ fetching }, purchase] = useMutation(PurchasePool);
  const [wordsPending, setWordsPending] = useState(false);
  const [errors, setErrors] = useState<PurchaseErrors>({});
  const [refused, setRefused] = useState<string>();
  const showErrors = (found: PurchaseErrors) => {
    setErrors(found);
    focusFirst(found);
  };
  const send = async ({ count, ...order }: Order) => {
    const found = missing({ count, ...order });
    setRefused(undefined);
    showErrors(found);
    if (Object.keys(found).length > 0 || !quoteState.quote || !quoteState.current) return;
    const values = { ...order, quoteId: quoteState.quote.id, expectedTotal: quoteState.quote.total };
    const { data, error } = await purchase({ input: { ...values, idempotencyKey: keyFor(values) } });
    const pool = data?.poolPurchase.pool;
    if (pool) {
      await navigate({ to: '/pools/$id', params: { id: pool.id }, search: { paid: 'now' } });
      return;
    }
    const userErrors = data?.poolPurchase.userErrors;
    const [first] = userErrors ?? [];
    const words = failureWords(error, userErrors);
    const field = fieldOf(first);
    if (field !== undefined) {
      setWordsPending(true);
      const text = first?.code === 'INVALID' ? await refusalText(first.message) : words;
      setWordsPending(false);
      return showErrors({ [field]: text });
    }
    setRefused(words);
    if (first && PRICE_CODES.includes(first.code)) quoteState.again();
    if (first) onRefused();
  };
  return { busy: fetching || wordsPending, errors, refused, send, clearErrors: () => setErrors({}) };
}

function useMissing(): (order: Order) => PurchaseErrors {
  const { t } = useTranslation();
  return ({ subdomain, name, count }) => ({
    ...(count === 0 && { models: t('purchase.modelsNeeded') }),
    ...(subdomain === '' && { subdomain: t('purchase.subdomainWrong') }),
    ...(name === '' && { name: t('purchase.nameNeeded') }),
  });
}

function fieldOf(
  error: { code: string; field: string[] | null } | undefined,
): keyof PurchaseErrors | undefined {
  if (error?.code === 'SUBDOMAIN_TAKEN' || error?.code === 'SUBDOMAIN_RESERVED') return 'subdomain';
  const [field] = error?.field ?? [];
  return field === 'subdomain' || field === 'name' ? field : undefined;
}

function focusFirst({ models, subdomain, name }: PurchaseErrors): void {
  if (models !== undefined)
    document.querySelector<HTMLElement>('[aria-describedby=pool-models] input')?.focus();
  else if (subdomain !== undefined) document.querySelector<HTMLElement>('#pool-subdomain')?.focus();
  else if (name !== undefined) document.querySelector<HTMLElement>('#pool-name')?.focus();
}
