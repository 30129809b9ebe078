/** Form fields for a proof of identity. */
import { Field, PasswordField } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';

const TOTP_CODE = /^\d{6}$/;

interface ProofFieldsProps {
  /** For password managers, which need the user name. */
  email: string;
  /** Whether an authenticator app is set up. */
  totp: boolean;
  failure?: string | undefined;
  /** Focuses the password field when it appears, for dialogs that open before their fields have loaded. */
  autoFocus?: boolean;
}

/** Password and, if an app is set up, its code or a recovery code. */
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

/** The values for the service. Six digits are a code from the app; anything else is a recovery code. */
export function proofIn(values: FormData) {
  const code = textIn(values, 'code').trim();
  const second = TOTP_CODE.test(code) ? { totpCode: code } : { recoveryCode: code };
  return { password: textIn(values, 'password'), ...(code !== '' && second) };
}
