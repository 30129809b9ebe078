/** Facts about one user: profile, wallet, usage of the last 30 days. */
import { CircleCheck, CircleMinus, CircleX, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { LeaderList, LeaderRow, LeaderSum } from '../../../components/leader-row.tsx';
import { Money } from '../../../components/money.tsx';
import { StateWord, type Tone } from '../../../components/state-word.tsx';
import { Day } from '../../../components/time.tsx';
import { LANGUAGE_NAMES, LANGUAGES } from '../../../i18n.ts';
import { useTranslation } from '../../../translation.ts';
import type { AdminUser } from './documents.ts';
import type { UserDetail } from './user-documents.ts';

interface UserProps {
  user: UserDetail;
}

const LOOKS: Record<AdminUser['state'], { icon: LucideIcon; tone: Tone }> = {
  ACTIVE: { icon: CircleCheck, tone: 'good' },
  SUSPENDED: { icon: CircleMinus, tone: 'warn' },
  DELETED: { icon: CircleX, tone: 'quiet' },
};

/** The state of a user. */
export function UserStateWord({ state }: Pick<AdminUser, 'state'>) {
  const { t } = useTranslation();
  return <StateWord {...LOOKS[state]} word={t(`admin.users.states.${state}`)} />;
}

/** A section of the user's page, with an optional link to the full list. */
export function UserSection({
  title,
  more,
  children,
}: {
  title: string;
  more?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="mt-10">
      <div className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4">
        <h2 className="text-section">{title}</h2>
        {more}
      </div>
      {children}
    </section>
  );
}

/** The text of a section without rows. */
export function NothingYet() {
  const { t } = useTranslation();
  return <p className="text-ink-2">{t('admin.user.none')}</p>;
}

/** How many rows are shown, if not all are. */
export function ShownOfTotal({ shown, total }: { shown: number; total: number }) {
  const { t } = useTranslation();
  if (total <= shown) return null;
  return <p className="mt-2 text-hint text-ink-3">{t('admin.user.further', { shown, total })}</p>;
}

function languageName(locale: string): string {
  const language = LANGUAGES.find((name) => name === locale);
  return language === undefined ? locale : LANGUAGE_NAMES[language];
}

/** Profile and sign-in methods. */
export function Profile({ user }: UserProps) {
  const { t } = useTranslation();
  const { securityFactors: factors, policyAcceptances } = user;
  const yesNo = (value: boolean) => t(value ? 'admin.user.yes' : 'admin.user.no');
  const accepted = policyAcceptances[0];
  return (
    <section>
      <h2 className="mb-1 text-section">{t('admin.user.profile')}</h2>
      <LeaderList>
        <LeaderRow name={t('admin.user.id')}>
          <code className="break-all">{user.id}</code>
        </LeaderRow>
        <LeaderRow name={t('admin.name')}>{user.displayName ?? t('state.none')}</LeaderRow>
        <LeaderRow name={t('admin.users.role')}>{t(`admin.users.roles.${user.role}`)}</LeaderRow>
        <LeaderRow name={t('admin.users.allowed')}>
          {user.allowedGroups.map((group) => t(`groups.${group}`)).join(t('state.separator'))}
        </LeaderRow>
        <LeaderRow name={t('admin.users.created')}>
          <Day at={user.createdAt} />
        </LeaderRow>
        <LeaderRow name={t('admin.user.verified')}>
          {user.emailVerifiedAt === null ? t('state.none') : <Day at={user.emailVerifiedAt} />}
        </LeaderRow>
        <LeaderRow name={t('admin.user.zoneAndLanguage')}>
          {user.timeZone.replaceAll('_', ' ')} · {languageName(user.locale)}
        </LeaderRow>
        <LeaderRow name={t('admin.user.password')}>{yesNo(factors.hasPassword)}</LeaderRow>
        <LeaderRow name={t('admin.user.totp')}>{yesNo(factors.totpEnabled)}</LeaderRow>
        <LeaderRow name={t('admin.user.passkeys')}>{factors.passkeys.length}</LeaderRow>
        <LeaderRow name={t('admin.user.identities')}>{factors.linkedIdentities.length}</LeaderRow>
        <LeaderRow name={t('admin.places.policies')}>
          {accepted ? (
            <>
              {accepted.version.version} · <Day at={accepted.acceptedAt} />
            </>
          ) : (
            t('state.none')
          )}
        </LeaderRow>
      </LeaderList>
    </section>
  );
}

/** Balances of the wallet. */
export function WalletBalance({ user: { wallet } }: UserProps) {
  const { t } = useTranslation();
  const parts = [
    { name: t('wallet.buckets.CASH'), amount: wallet.cash },
    { name: t('wallet.buckets.GIFT'), amount: wallet.gift },
  ];
  return (
    <section>
      <h2 className="mb-1 text-section">{t('admin.user.wallet')}</h2>
      <LeaderList>
        {parts.map(({ name, amount }) => (
          <LeaderRow key={name} name={name}>
            <Money amount={amount} />
          </LeaderRow>
        ))}
        <LeaderSum name={t('shell.available')}>
          <Money amount={wallet.available} />
        </LeaderSum>
      </LeaderList>
      {wallet.frozen && <p className="text-bad">{t('admin.user.frozen')}</p>}
    </section>
  );
}

/** Requests and cost of the last 30 days, by model. */
export function LastMonth({ user: { usageSummary } }: UserProps) {
  const { t } = useTranslation();
  const requests = (count: number) => t('admin.user.requests', { count });
  return (
    <section>
      <h2 className="mb-1 text-section">{t('admin.user.month')}</h2>
      <LeaderList>
        {usageSummary.groups.map(({ key, label, totals }) => (
          <LeaderRow key={key} name={<code>{label}</code>} note={requests(totals.requests)}>
            <Money amount={totals.cost} />
          </LeaderRow>
        ))}
        <LeaderSum name={requests(usageSummary.totals.requests)}>
          <Money amount={usageSummary.totals.cost} />
        </LeaderSum>
      </LeaderList>
    </section>
  );
}
