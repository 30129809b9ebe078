/** Paying a quote: what is missing is said at its field, what the service refuses by its code. */
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useMutation } from 'urql';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { useIdempotencyKey } from '../idempotency.ts';
import { PurchasePool } from './documents.ts';
import type { HeldQuote } from './use-quote.ts';

/** What is wrong with a field, where something is. */
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

/** Refusals after which the price is another one, or not held any more. */
const PRICE_CODES = ['QUOTE_EXPIRED', 'PRICE_CHANGED', 'MODEL_UNAVAILABLE', 'INSUFFICIENT_BALANCE'];

/** Sends an order once at a time; goes to the new pool when it is paid. */
export function usePurchase({ held, onRefused }: { held: HeldQuote; onRefused: () => void }) {
  const navigate = useNavigate();
  const missing = useMissing();
  const failureWords = useFailureWords();
  const keyFor = useIdempotencyKey();
  const [{ fetching }, purchase] = useMutation(PurchasePool);
  const [errors, setErrors] = useState<PurchaseErrors>({});
  const [refused, setRefused] = useState<string>();
  const tell = (found: PurchaseErrors) => {
    setErrors(found);
    focusFirst(found);
  };
  const send = async ({ count, ...order }: Order) => {
    const found = missing({ count, ...order });
    setRefused(undefined);
    tell(found);
    if (Object.keys(found).length > 0 || !held.quote || !held.current) return;
    const values = { ...order, quoteId: held.quote.id, expectedTotal: held.quote.total };
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
    if (field !== undefined) return tell({ [field]: first?.code === 'INVALID' ? first.message : words });
    setRefused(words);
    if (first && PRICE_CODES.includes(first.code)) held.again();
    if (first) onRefused();
  };
  return { busy: fetching, errors, refused, send, forget: () => setErrors({}) };
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
