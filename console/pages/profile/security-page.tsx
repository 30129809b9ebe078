/** The safety of the account: password, authenticator app, signed-in browsers. */
import { useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { PasswordField } from '../../components/field.tsx';
import { useToast } from '../../components/toast.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { useSubmit } from '../use-submit.ts';
import { ChangePassword, SecurityQuery } from './documents.ts';
import { Identities } from './identities.tsx';
import { LinkOutcome } from './link-outcome.tsx';
import { Passkeys } from './passkeys.tsx';
import { Part, ProfileFrame } from './profile-frame.tsx';
import { Sessions } from './sessions.tsx';
import { TotpPart } from './totp-part.tsx';

const PASSWORD_CHARACTERS_MIN = 12;

/** The page. */
export function SecurityPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: SecurityQuery });
  const reload = () => {
    again({ requestPolicy: 'network-only' });
  };
  return (
    <ProfileFrame viewer={data?.viewer} error={error} onRetry={again}>
      {(viewer) => (
        <>
          <LinkOutcome />
          <Part title={t('profile.password')}>
            {viewer.securityFactors.hasPassword ? (
              <Password email={viewer.email} />
            ) : (
              <p className="text-ink-2">{t('profile.noPassword')}</p>
            )}
          </Part>
          <Part title={t('totp.title')}>
            <TotpPart viewer={viewer} onChanged={reload} />
          </Part>
          {data?.signInOptions.passkeys === true && (
            <Part title={t('passkeys.title')} sentence={t('passkeys.sentence')}>
              <Passkeys passkeys={viewer.securityFactors.passkeys} onChanged={reload} />
            </Part>
          )}
          {data && data.signInOptions.oidcProviders.length > 0 && (
            <Part title={t('identities.title')} sentence={t('identities.sentence')}>
              <Identities
                identities={viewer.securityFactors.linkedIdentities}
                providers={data.signInOptions.oidcProviders}
                onChanged={reload}
              />
            </Part>
          )}
          <Part title={t('profile.sessions')}>
            <Sessions sessions={viewer.sessions.nodes} onEnded={reload} />
          </Part>
        </>
      )}
    </ProfileFrame>
  );
}

function Password({ email }: { email: string }) {
  const { t } = useTranslation();
  const [, change] = useMutation(ChangePassword);
  const toast = useToast();
  const words = { show: t('profile.show'), hide: t('profile.hide') };
  const { busy, failure, submit } = useSubmit({
    send: async (values) => {
      const input = { currentPassword: textIn(values, 'current'), newPassword: textIn(values, 'next') };
      const { data, error } = await change({ input });
      return { error, userErrors: data?.passwordChange.userErrors };
    },
    onDone: (form) => {
      form.reset();
      toast({ text: t('profile.changed') });
    },
  });
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
        <Button type="submit" busy={busy}>
          {t('profile.change')}
        </Button>
      </div>
    </form>
  );
}
