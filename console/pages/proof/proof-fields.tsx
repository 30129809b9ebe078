/** The fields of a proof, for every form that needs one. */
import { Field, PasswordField } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';

const TOTP_CODE = /^\d{6}$/;

interface ProofFieldsProps {
  /** For password managers, which look for whom the password is. */
  email: string;
  /** Whether an authenticator app is in use. */
  totp: boolean;
  failure?: string | undefined;
  /** Takes the focus as it appears, where the dialog around it was there first. */
  autoFocus?: boolean;
}

/** Password and, where the account has an app, its code or a recovery code. */
export function ProofFields({ email, totp, failure, autoFocus }: ProofFieldsProps) {
  const { t } = useTranslation();
  return (
    <>
      <input type="email" name="email" value={email} autoComplete="username" readOnly hidden />
      <PasswordField
        label={t('proof.password')}
        name="password"
        required
        autoFocus={autoFocus}
        autoComplete="current-password"
        error={totp ? undefined : failure}
        words={{ show: t('proof.show'), hide: t('proof.hide') }}
      />
      {totp && (
        <Field
          label={t('proof.code')}
          name="code"
          required
          autoComplete="one-time-code"
          hint={t('proof.codeHint')}
          error={failure}
        />
      )}
    </>
  );
}

/** What the service is sent: six digits are a code of the app, anything else is a recovery code. */
export function proofIn(values: FormData) {
  const code = textIn(values, 'code').trim();
  const second = TOTP_CODE.test(code) ? { totpCode: code } : { recoveryCode: code };
  return { password: textIn(values, 'password'), ...(code !== '' && second) };
}
