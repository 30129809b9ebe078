/** Notifications: the low balance warning, spend alerts, and mail notifications. */
import { useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { Checkbox, Field } from '../../components/field.tsx';
import { moneyText } from '../../components/money.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { useFailureWords } from '../failure-words.ts';
import { textIn } from '../form-values.ts';
import { type Outcome, useSubmit } from '../use-submit.ts';
import { UpdateProfile } from './documents.ts';
import { type Notices, NoticesQuery, SetBudget, SetThreshold } from './notice-documents.ts';
import { Part, ProfileFrame } from './profile-frame.tsx';

/** The page. */
export function NotificationsPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: NoticesQuery });
  return (
    <ProfileFrame viewer={data?.viewer} error={error} onRetry={again}>
      {(viewer) => (
        <>
          <Part title={t('profile.warning')}>
            <Threshold value={viewer.wallet.lowBalanceThreshold} />
          </Part>
          <Part title={t('profile.alerts')}>
            <Budget budget={viewer.wallet.budget} />
          </Part>
          <Part title={t('profile.notices')}>
            <Switches preferences={viewer.notificationPreferences} />
          </Part>
        </>
      )}
    </ProfileFrame>
  );
}

const NAMES = ['poolExpiry', 'storefrontOpening', 'paymentReceipts'] as const;

function Switches({ preferences }: { preferences: Notices['notificationPreferences'] }) {
  const { t } = useTranslation();
  const [{ fetching }, update] = useMutation(UpdateProfile);
  const failureWords = useFailureWords();
  const toast = useToast();
  const toggle = async (name: (typeof NAMES)[number], on: boolean) => {
    const { data, error } = await update({ input: { notifications: { [name]: on } } });
    const reason = failureWords(error, data?.profileUpdate.userErrors);
    toast(reason === undefined ? { text: t('profile.saved') } : { text: reason, failed: true });
  };
  return (
    <div className="flex flex-col gap-3">
      {NAMES.map((name) => (
        <Checkbox
          key={name}
          label={t(`profile.${name}`)}
          checked={preferences[name]}
          aria-busy={fetching || undefined}
          onChange={(event) => void toggle(name, event.target.checked)}
        />
      ))}
      <Checkbox
        label={t('profile.securityNotices')}
        hint={t('profile.securityAlways')}
        checked
        disabled
        readOnly
      />
    </div>
  );
}

function Threshold({ value }: { value: string | null }) {
  const { t } = useTranslation();
  const [, save] = useMutation(SetThreshold);
  const send = async (amount: string | null) => {
    const { data, error } = await save({ input: { lowBalanceThreshold: amount } });
    return { error, userErrors: data?.walletSettingsUpdate.userErrors };
  };
  return (
    <AmountForm label={t('profile.threshold')} hint={t('profile.thresholdHint')} value={value} send={send} />
  );
}

/** The monthly budget. Mails about keys with a cap need no setting. */
function Budget({ budget: { monthly, spentThisMonth } }: { budget: Notices['wallet']['budget'] }) {
  const { t } = useTranslation();
  const [, save] = useMutation(SetBudget);
  const send = async (amount: string | null) => {
    const { data, error } = await save({ input: { monthly: amount } });
    return { error, userErrors: data?.walletBudgetSet.userErrors };
  };
  return (
    <>
      <p className="mb-4 text-ink-2">{t('profile.alertsSentence')}</p>
      <AmountForm
        label={t('profile.budget')}
        hint={t('profile.budgetHint', { spent: moneyText(spentThisMonth) })}
        value={monthly}
        send={send}
      />
    </>
  );
}

interface AmountFormProps {
  label: string;
  hint: string;
  /** In dollars; null for none. */
  value: string | null;
  send: (amount: string | null) => Promise<Outcome>;
}

/** One amount that may be empty. */
function AmountForm({ label, hint, value, send }: AmountFormProps) {
  const { t } = useTranslation();
  const toast = useToast();
  const { busy, failure, submit } = useSubmit({
    send: (values) => send(textIn(values, 'amount').trim() || null),
    onDone: () => toast({ text: t('profile.saved') }),
  });
  return (
    <form className="flex max-w-[380px] flex-col gap-4" onSubmit={(event) => void submit(event)}>
      <Field
        label={label}
        name="amount"
        inputMode="decimal"
        pattern="[0-9]+([.][0-9]{1,6})?"
        before={<span className="text-ink-3">$</span>}
        defaultValue={value ?? ''}
        hint={hint}
        error={failure}
        autoComplete="off"
      />
      <div>
        <Button type="submit" busy={busy}>
          {t('profile.save')}
        </Button>
      </div>
    </form>
  );
}
