/** Refunds, disputes and the deposit of one top-up. */
import { CircleAlert, CircleCheck, Clock, type LucideIcon, Scale } from 'lucide-react';
import type { ReactNode } from 'react';
import { CopyIcon } from '../../../components/copy.tsx';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { Money } from '../../../components/money.tsx';
import { StateWord, type Tone } from '../../../components/state-word.tsx';
import { Stamp } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Dispute, Refund, TopUpDetail } from './documents.ts';

const REFUND_LOOKS: Record<Refund['status'], { icon: LucideIcon; tone: Tone }> = {
  REQUESTED: { icon: Clock, tone: 'accent' },
  PENDING: { icon: Clock, tone: 'accent' },
  SUCCEEDED: { icon: CircleCheck, tone: 'good' },
  FAILED: { icon: CircleAlert, tone: 'bad' },
};
const DISPUTE_LOOKS: Record<Dispute['status'], { icon: LucideIcon; tone: Tone }> = {
  NOTICE: { icon: Scale, tone: 'quiet' },
  OPEN: { icon: Scale, tone: 'warn' },
  WON: { icon: CircleCheck, tone: 'good' },
  LOST: { icon: CircleAlert, tone: 'bad' },
};

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2 className="mb-1 text-section">{title}</h2>
      {children}
    </section>
  );
}

interface MovementProps {
  amount: string;
  at: string;
  /** The state, as icon and word. */
  state: ReactNode;
  children?: ReactNode;
}

/** One refund or dispute. */
function Movement({ amount, at, state, children }: MovementProps) {
  return (
    <li className="flex flex-col gap-0.5 border-b border-line py-2.5">
      <span className="flex items-baseline justify-between gap-3">
        {state}
        <Money amount={amount} className="font-semibold" />
      </span>
      <span className="flex items-baseline gap-3 text-table text-ink-3">
        <Stamp at={at} />
        <span className="min-w-0 break-words text-ink-2">{children}</span>
      </span>
    </li>
  );
}

/** The refunds, each with the reason of the administrator. */
export function Refunds({ refunds }: { refunds: readonly Refund[] }) {
  const { t } = useTranslation();
  return (
    <Part title={t('payments.topUp.refunds')}>
      {refunds.length === 0 && <p className="text-ink-2">{t('payments.topUp.noRefunds')}</p>}
      <ul>
        {refunds.map(({ id, amount, status, reason, createdAt }) => (
          <Movement
            key={id}
            amount={amount}
            at={createdAt}
            state={<StateWord {...REFUND_LOOKS[status]} word={t(`payments.topUp.refundStates.${status}`)} />}
          >
            {reason}
          </Movement>
        ))}
      </ul>
    </Part>
  );
}

/** The disputes, with their ids at the processor. */
export function Disputes({ disputes }: { disputes: readonly Dispute[] }) {
  const { t } = useTranslation();
  return (
    <Part title={t('payments.topUp.disputes')}>
      {disputes.length === 0 && <p className="text-ink-2">{t('payments.topUp.noDisputes')}</p>}
      <ul>
        {disputes.map(({ id, amount, status, createdAt }) => (
          <Movement
            key={id}
            amount={amount}
            at={createdAt}
            state={
              <StateWord {...DISPUTE_LOOKS[status]} word={t(`payments.topUp.disputeStates.${status}`)} />
            }
          >
            <code className="break-all">{id}</code>
          </Movement>
        ))}
      </ul>
    </Part>
  );
}

/** Where the deposit is on its blockchain. */
export function DepositFacts({ deposit }: { deposit: NonNullable<TopUpDetail['deposit']> }) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const { explorerUrl, txHash, address, confirmations, requiredConfirmations: of } = deposit;
  return (
    <div className="col-span-full max-w-[720px]">
      <Part title={t('payments.topUp.deposit')}>
        <LeaderList>
          <LeaderRow name={t('payments.topUp.confirmations')}>
            {t('wallet.pay.confirmations', { count: confirmations, of })}
          </LeaderRow>
          <LeaderRow name={t('payments.topUp.block')}>{number.format(Number(deposit.blockNumber))}</LeaderRow>
          <LeaderRow name={t('payments.topUp.log')}>{deposit.logIndex}</LeaderRow>
          <LeaderRow name={t('payments.topUp.transaction')}>
            <Machine text={txHash} label={t('payments.topUp.transaction')} href={explorerUrl} />
          </LeaderRow>
          <LeaderRow name={t('payments.topUp.address')}>
            <Machine text={address} label={t('payments.topUp.address')} />
          </LeaderRow>
        </LeaderList>
      </Part>
    </div>
  );
}

/** A long hexadecimal text, with a link if there is one, and a copy button. */
function Machine({ text, label, href = null }: { text: string; label: string; href?: string | null }) {
  const { t } = useTranslation();
  const code = <code className="[overflow-wrap:anywhere]">{text}</code>;
  return (
    <>
      {href === null ? (
        code
      ) : (
        <a href={href} target="_blank" rel="noreferrer" className="text-accent underline">
          {code}
        </a>
      )}{' '}
      <CopyIcon text={text} label={t('copy.name', { name: label })} />
    </>
  );
}
