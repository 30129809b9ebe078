/** The account of who is signed in: password, browsers, warnings, privacy, appearance. */
import { Link } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMutation, useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button } from '../../components/button.tsx';
import { Field, PasswordField, Segmented } from '../../components/field.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useStore } from '../../components/store.ts';
import { setTheme, theme, THEMES } from '../../components/theme.ts';
import { Day } from '../../components/time.tsx';
import { useToast } from '../../components/toast.tsx';
import { LANGUAGE_NAMES, LANGUAGES, setLanguage } from '../../i18n.ts';
import { useFailureWords } from '../failure-words.ts';
import { ChangePassword, type Profile, ProfileQuery, SetThreshold } from './documents.ts';
import { Sessions } from './sessions.tsx';

const PASSWORD_CHARACTERS_MIN = 12;

/** The page. */
export function ProfilePage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: ProfileQuery });
  const viewer = data?.viewer;
  return (
    <>
      <PageHead
        title={t('profile.title')}
        sentence={viewer ? t('profile.sentence', { email: viewer.email }) : t('state.loading')}
      />
      {!viewer && !error && <SkeletonRows />}
      {!viewer && error && (
        <Failure
          title={t('profile.failed')}
          safe={t('profile.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
      {viewer && (
        <div className="flex max-w-[880px] flex-col gap-10">
          <Part title={t('profile.password')}>
            <Password email={viewer.email} />
          </Part>
          <Part title={t('profile.sessions')}>
            <Sessions
              sessions={viewer.sessions.nodes}
              onEnded={() => {
                again({ requestPolicy: 'network-only' });
              }}
            />
          </Part>
          <Part title={t('profile.warning')}>
            <Threshold value={viewer.wallet.lowBalanceThreshold} />
          </Part>
          <Part title={t('profile.privacy')}>
            <Acceptances acceptances={viewer.policyAcceptances} />
          </Part>
          <Part title={t('profile.appearance')}>
            <Appearance />
          </Part>
        </div>
      )}
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="border-t border-line pt-6">
      <h2 className="mb-4 text-section">{title}</h2>
      {children}
    </section>
  );
}

function Password({ email }: { email: string }) {
  const { t } = useTranslation();
  const [{ fetching }, change] = useMutation(ChangePassword);
  const [failure, setFailure] = useState<string>();
  const failureWords = useFailureWords();
  const toast = useToast();
  const words = { show: t('profile.show'), hide: t('profile.hide') };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const values = new FormData(form);
    const input = { currentPassword: textIn(values, 'current'), newPassword: textIn(values, 'next') };
    const { data, error } = await change({ input });
    const reason = failureWords(error, data?.passwordChange.userErrors);
    setFailure(reason);
    if (reason !== undefined) return;
    form.reset();
    toast({ text: t('profile.changed') });
  };
  return (
    <form className="flex max-w-[380px] flex-col gap-4" onSubmit={(event) => void submit(event)}>
      <input type="email" name="email" value={email} autoComplete="username" readOnly hidden />
      <PasswordField
        label={t('profile.current')}
        name="current"
        required
        autoComplete="current-password"
        words={words}
      />
      <PasswordField
        label={t('profile.next')}
        name="next"
        required
        minLength={PASSWORD_CHARACTERS_MIN}
        autoComplete="new-password"
        hint={t('profile.nextHint')}
        error={failure}
        words={words}
      />
      <div>
        <Button type="submit" busy={fetching}>
          {t('profile.change')}
        </Button>
      </div>
    </form>
  );
}

function Threshold({ value }: { value: string | null }) {
  const { t } = useTranslation();
  const [{ fetching }, save] = useMutation(SetThreshold);
  const [failure, setFailure] = useState<string>();
  const failureWords = useFailureWords();
  const toast = useToast();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const amount = textIn(new FormData(event.currentTarget), 'amount').trim();
    const { data, error } = await save({ input: { lowBalanceThreshold: amount === '' ? null : amount } });
    const reason = failureWords(error, data?.walletSettingsUpdate.userErrors);
    setFailure(reason);
    if (reason === undefined) toast({ text: t('profile.saved') });
  };
  return (
    <form className="flex max-w-[380px] flex-col gap-4" onSubmit={(event) => void submit(event)}>
      <Field
        label={t('profile.threshold')}
        name="amount"
        inputMode="decimal"
        pattern="[0-9]+([.][0-9]{1,6})?"
        before={<span className="text-ink-3">$</span>}
        defaultValue={value ?? ''}
        hint={t('profile.thresholdHint')}
        error={failure}
        autoComplete="off"
      />
      <div>
        <Button type="submit" busy={fetching}>
          {t('profile.save')}
        </Button>
      </div>
    </form>
  );
}

function Acceptances({ acceptances }: { acceptances: Profile['policyAcceptances'] }) {
  const { t } = useTranslation();
  return (
    <>
      {acceptances.length === 0 && <p className="text-ink-2">{t('profile.noneAccepted')}</p>}
      <ul className="flex flex-col gap-1">
        {acceptances.map(({ acceptedAt, version: { id, version } }) => (
          <li key={id} className="flex gap-3">
            {t('profile.accepted', { version })}
            <span className="text-ink-3">
              <Day at={acceptedAt} />
            </span>
          </li>
        ))}
      </ul>
      <Link to="/privacy-policy" className="mt-3 inline-block text-accent underline">
        {t('shell.policy')}
      </Link>
    </>
  );
}

function Appearance() {
  const { t, i18n } = useTranslation();
  const chosen = useStore(theme);
  const language = LANGUAGES.find((name) => name === i18n.language) ?? 'en';
  return (
    <div className="flex flex-wrap gap-4">
      <Segmented
        label={t('shell.theme')}
        value={chosen}
        onChange={setTheme}
        options={THEMES.map((value) => ({ value, word: t(`shell.themes.${value}`) }))}
      />
      <Segmented
        label={t('shell.language')}
        value={language}
        onChange={(next) => void setLanguage(next, true)}
        options={LANGUAGES.map((value) => ({ value, word: LANGUAGE_NAMES[value] }))}
      />
    </div>
  );
}

function textIn(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === 'string' ? value : '';
}
