/** The notice about a key or account that has spent a part of its monthly cap or budget, on every page. */
import { Link } from '@tanstack/react-router';
import { Gauge, X } from 'lucide-react';
import { useEffect } from 'react';
import { useMutation } from 'urql';
import { IconButton } from '../../components/button.tsx';
import { focusContentIfLost } from '../../components/focus.ts';
import { moneyText } from '../../components/money.tsx';
import { Banner } from '../../components/notice.tsx';
import type { Tone } from '../../components/state-word.tsx';
import { useToast } from '../../components/toast.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import type { Viewer } from './viewer.ts';

const DismissAlert = graphql(
  `
    mutation DismissAlert($input: IdInput!) {
      spendAlertDismiss(input: $input) {
        wallet {
          id
          spendAlerts {
            id
            keyId
            keyName
            percent
            spent
            limit
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export type Alert = Viewer['wallet']['spendAlerts'][number];

const FULL = 100;
const HIGH = 80;

/**
 * The alert with the highest percentage. Once it is dismissed, the next one is shown, so that the notices
 * take one place. The service remembers the dismissal for all devices.
 */
export default function SpendAlerts({ alerts }: { alerts: readonly Alert[] }) {
  const { t } = useTranslation();
  const { fetching, dismiss } = useDismissing();
  // The button goes with the last alert.
  useEffect(() => focusContentIfLost, []);
  const [alert] = alerts;
  if (!alert) return null;
  return (
    <Banner
      tone={toneOf(alert)}
      icon={<Gauge size={16} strokeWidth={1.75} aria-hidden="true" />}
      action={
        <IconButton
          label={t('wallet.alerts.dismiss')}
          aria-disabled={fetching || undefined}
          onClick={() => {
            if (!fetching) void dismiss(alert.id);
          }}
        >
          <X size={16} strokeWidth={1.75} />
        </IconButton>
      }
    >
      <Words alert={alert} others={alerts.length - 1} />
    </Banner>
  );
}

interface WordsProps {
  alert: Alert;
  /** Number of alerts that follow. */
  others: number;
}

function Words({ alert: { keyId, keyName, percent, spent, limit }, others }: WordsProps) {
  const { t } = useTranslation();
  const amounts = { percent, spent: moneyText(spent), limit: moneyText(limit) };
  const ofKey = percent < FULL ? 'wallet.alerts.keyThen' : 'wallet.alerts.keyFull';
  return (
    <>
      <strong className="font-semibold break-words">
        {keyId === null
          ? t('wallet.alerts.account', amounts)
          : t('wallet.alerts.key', { ...amounts, name: keyName ?? '' })}
      </strong>
      {t('state.gap')}
      <span className="max-sm:hidden">{t(keyId === null ? 'wallet.alerts.accountThen' : ofKey)}</span>
      {t('state.gap')}
      {others > 0 && <span>{t('wallet.alerts.others', { count: others }) + t('state.gap')}</span>}
      {keyId === null ? (
        <Link to="/wallet" className="whitespace-nowrap underline">
          {t('wallet.alerts.openWallet')}
        </Link>
      ) : (
        <Link to="/keys/$id" params={{ id: keyId }} className="whitespace-nowrap underline">
          {t('wallet.alerts.openKey')}
        </Link>
      )}
    </>
  );
}

/** Only a key at its cap stops requests. */
function toneOf({ keyId, percent }: Alert): Tone {
  if (percent >= FULL && keyId !== null) return 'bad';
  return percent >= HIGH ? 'warn' : 'accent';
}

function useDismissing() {
  const [{ fetching }, send] = useMutation(DismissAlert);
  const failureWords = useFailureWords();
  const toast = useToast();
  const dismiss = async (id: string) => {
    const { data, error } = await send({ input: { id } });
    const reason = failureWords(error, data?.spendAlertDismiss.userErrors);
    if (reason !== undefined) toast({ text: reason, failed: true });
  };
  return { fetching, dismiss };
}
