/** The state of a top-up as text, and the live state of the top-up that the user has just begun. */
import { CircleAlert, CircleCheck, Clock, type LucideIcon, Scale, Undo2 } from 'lucide-react';
import { useQuery, useSubscription } from 'urql';
import { moneyText } from '../../components/money.tsx';
import { Banner } from '../../components/notice.tsx';
import { StateWord, type Tone } from '../../components/state-word.tsx';
import { type TFunction, useTranslation } from '../../translation.ts';
import { knownText } from '../known-text.ts';
import { type TopUp, TopUpChanges, TopUpQuery } from './payment-documents.ts';

const LOOKS: Record<TopUp['state'], { icon: LucideIcon; tone: Tone }> = {
  CREATED: { icon: Clock, tone: 'accent' },
  AWAITING_PAYMENT: { icon: Clock, tone: 'accent' },
  SEEN: { icon: Clock, tone: 'accent' },
  CONFIRMING: { icon: Clock, tone: 'accent' },
  CREDITED: { icon: CircleCheck, tone: 'good' },
  FAILED: { icon: CircleAlert, tone: 'bad' },
  EXPIRED: { icon: CircleAlert, tone: 'quiet' },
  ORPHANED: { icon: CircleAlert, tone: 'warn' },
  PARTIALLY_REFUNDED: { icon: Undo2, tone: 'quiet' },
  REFUNDED: { icon: Undo2, tone: 'quiet' },
  DISPUTED: { icon: Scale, tone: 'warn' },
};

/** The state as icon and word, with the number of confirmations of a deposit. */
export function TopUpState({ topUp }: { topUp: TopUp }) {
  const { t } = useTranslation();
  const { icon, tone } = LOOKS[topUp.state];
  return <StateWord icon={icon} tone={tone} word={stateWord(t, topUp)} />;
}

/** The state of the top-up with this id, as it changes. */
export function LiveTopUp({ id, cancelled }: { id: string; cancelled: boolean }) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: TopUpQuery, variables: { id } });
  // The cache merges the changes into the top-up.
  useSubscription({ query: TopUpChanges, variables: { id } });
  const topUp = data?.topUp;
  if (!topUp) return null;
  const { icon: Icon, tone } = LOOKS[topUp.state];
  const isOpen = topUp.state === 'AWAITING_PAYMENT' || topUp.state === 'CREATED';
  return (
    <div className="mb-6" role="status">
      <Banner
        tone={tone === 'quiet' ? 'warn' : tone}
        icon={<Icon size={16} strokeWidth={1.75} aria-hidden="true" />}
        action={isOpen && topUp.checkoutUrl ? <PayLink topUp={topUp} /> : undefined}
      >
        {isOpen && cancelled ? t('wallet.pay.left') : sentence(t, topUp)}
      </Banner>
    </div>
  );
}

function PayLink({ topUp }: { topUp: TopUp }) {
  const { t } = useTranslation();
  return (
    <a href={topUp.checkoutUrl ?? ''} className="font-[550] text-accent underline">
      {t('wallet.pay.resume')}
    </a>
  );
}

function stateWord(t: TFunction, { state, deposit }: TopUp): string {
  if (state !== 'CONFIRMING' || !deposit) return t(`wallet.pay.states.${state}`);
  const { confirmations: count, requiredConfirmations: of } = deposit;
  return t('wallet.pay.confirmations', { count, of });
}

function sentence(t: TFunction, topUp: TopUp): string {
  const amount = moneyText(topUp.credited === '0.00' ? topUp.amount : topUp.credited);
  const words = t(`wallet.pay.sentences.${topUp.state}`, { amount });
  const reason = failureText(t, topUp);
  return reason === undefined ? words : t('wallet.pay.because', { words, reason });
}

/** Why a top-up failed; undefined if it did not, and for a reason of a newer service. */
export function failureText(t: TFunction, { state, failure }: TopUp): string | undefined {
  if (failure === null || (state !== 'FAILED' && state !== 'EXPIRED')) return undefined;
  return knownText(t, `wallet.pay.failures.${failure}`);
}
