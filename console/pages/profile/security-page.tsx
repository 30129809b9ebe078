/** Account security: password, authenticator app, passkeys, identities, signed-in browsers. */
import { useQuery } from 'urql';
import { useTranslation } from '../../translation.ts';
import { SecurityQuery } from './documents.ts';
import { Identities } from './identities.tsx';
import { LinkOutcome } from './link-outcome.tsx';
import { Passkeys } from './passkeys.tsx';
import { PasswordForm } from './password-form.tsx';
import { Part, ProfileFrame } from './profile-frame.tsx';
import { Sessions } from './sessions.tsx';
import { TotpPart } from './totp-part.tsx';

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
              <PasswordForm email={viewer.email} onChanged={reload} />
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
