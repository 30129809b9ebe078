/**
 * The fields of a new account: email, password with its strength, privacy policy. Registration, claim and
 * activation share them.
 */
import { clsx } from 'clsx';
import { CircleCheck } from 'lucide-react';
import { useId } from 'react';
import type { UseFormRegisterReturn, UseFormReturn } from 'react-hook-form';
import { Below, Field, PasswordField } from '../../components/field.tsx';
import { Rich } from '../../components/rich.tsx';
import { useTranslation } from '../../translation.ts';
import { PolicyLink } from '../privacy-policy/policy-link.tsx';

export interface AccountForm {
  email: string;
  password: string;
  accepted: boolean;
}

export const EMPTY_ACCOUNT: AccountForm = { email: '', password: '', accepted: false };

const PASSWORD_CHARACTERS_MIN = 12;
const PASSWORD_CHARACTERS_MAX = 256;
const GOOD_CHARACTERS = 16;
const STRONG_CHARACTERS = 20;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

export type Strength = 'short' | 'fair' | 'good' | 'strong';

/** Estimated strength by length and variety. The service also refuses leaked passwords. */
export function strengthOf(password: string): Strength {
  const different = new Set(password).size;
  if (password.length < PASSWORD_CHARACTERS_MIN) return 'short';
  if (password.length >= STRONG_CHARACTERS && different >= 10) return 'strong';
  return password.length >= GOOD_CHARACTERS && different >= 8 ? 'good' : 'fair';
}

interface AccountFieldsProps {
  form: UseFormReturn<AccountForm>;
  version: string;
  /** Whether the account has its address already. */
  hasAddress?: boolean;
}

/** The fields of the page's form. */
export function AccountFields({ form, version, hasAddress = false }: AccountFieldsProps) {
  const { errors } = form.formState;
  const rules = usePasswordRules();
  return (
    <>
      {hasAddress ? (
        // Browsers expect a user name beside a new password.
        <input type="text" autoComplete="username" readOnly hidden />
      ) : (
        <AddressField form={form} />
      )}
      <NewPassword
        first={hasAddress}
        field={form.register('password', rules)}
        typed={form.watch('password', '')}
        error={errors.password?.message}
      />
      <PolicyBox form={form} version={version} />
    </>
  );
}

function AddressField({ form }: { form: UseFormReturn<AccountForm> }) {
  const { t } = useTranslation();
  const { errors } = form.formState;
  const email = form.register('email', {
    required: t('account.emailNeeded'),
    validate: (value) => EMAIL.test(value.trim()) || t('account.emailWrong'),
  });
  return (
    <Field
      label={t('account.email')}
      type="email"
      tall
      autoFocus
      autoComplete="username"
      error={errors.email?.message}
      {...email}
    />
  );
}

/** Validation rules for a new password. */
export function usePasswordRules() {
  const { t } = useTranslation();
  return {
    required: t('account.passwordNeeded'),
    minLength: { value: PASSWORD_CHARACTERS_MIN, message: t('account.passwordShort') },
  };
}

interface NewPasswordProps {
  /** Whether it is the first field of its page. */
  first?: boolean;
  /** The form's registration of the field, with usePasswordRules. */
  field: UseFormRegisterReturn;
  typed: string;
  error: string | undefined;
}

/** A new password, with its strength. */
export function NewPassword({ first = false, field, typed, error }: NewPasswordProps) {
  const { t } = useTranslation();
  return (
    <div className="flex flex-col gap-2">
      <PasswordField
        label={t('account.password')}
        tall
        autoFocus={first}
        autoComplete="new-password"
        words={{ show: t('account.show'), hide: t('account.hide') }}
        maxLength={PASSWORD_CHARACTERS_MAX}
        error={error}
        {...field}
      />
      <StrengthBar password={typed} />
    </div>
  );
}

const SEGMENTS: Record<Strength, number> = { short: 1, fair: 2, good: 3, strong: 4 };
const BAR: Record<Strength, string> = {
  short: 'bg-ink-3',
  fair: 'bg-warn',
  good: 'bg-good',
  strong: 'bg-good',
};
const WORD: Record<Strength, string> = {
  short: 'text-ink-3',
  fair: 'text-warn',
  good: 'text-good',
  strong: 'text-good',
};

function StrengthBar({ password }: { password: string }) {
  const { t } = useTranslation();
  const strength = strengthOf(password);
  const filled = password === '' ? 0 : SEGMENTS[strength];
  return (
    <div>
      <div className="flex gap-1" aria-hidden="true">
        {[1, 2, 3, 4].map((segment) => (
          <span
            key={segment}
            className={clsx('drawn h-1 flex-1 rounded-full', segment <= filled ? BAR[strength] : 'bg-line')}
          />
        ))}
      </div>
      <div className="mt-1.5 flex justify-between gap-3 text-hint">
        <span role="status" className={clsx('flex items-center gap-1.5', WORD[strength])}>
          {filled > 2 && <CircleCheck size={14} strokeWidth={1.75} aria-hidden="true" />}
          {filled > 0 && t(`account.strength.${strength}`)}
        </span>
        <span className="text-right text-ink-3">{t('account.passwordRule')}</span>
      </div>
    </div>
  );
}

function PolicyBox({ form, version }: { form: UseFormReturn<AccountForm>; version: string }) {
  const { t } = useTranslation();
  const id = useId();
  const wrong = form.formState.errors.accepted?.message;
  const link = (words: string) => <PolicyLink words={words} />;
  return (
    <div className="flex flex-col gap-2">
      <div
        className={clsx(
          'rounded-card border p-4',
          wrong === undefined ? 'border-line-strong' : 'border-bad shadow-[inset_0_0_0_1px_var(--bad)]',
        )}
      >
        <label className="flex items-start gap-2.5 text-body touch:-my-3 touch:py-3">
          <input
            type="checkbox"
            className="checkbox mt-0.5"
            aria-invalid={wrong !== undefined || undefined}
            aria-describedby={`${id}-points ${id}-below`}
            {...form.register('accepted', { required: t('account.mustAccept') })}
          />
          <span>
            <Rich text={t('account.accept', { version })} marks={{ policy: link }} />
          </span>
        </label>
        <ul
          id={`${id}-points`}
          className="mt-2 ml-[30px] flex list-disc flex-col gap-1 pl-4 text-table text-ink-2"
        >
          <li>{t('account.point1')}</li>
          <li>{t('account.point2')}</li>
          <li>{t('account.point3')}</li>
        </ul>
      </div>
      {wrong !== undefined && <Below id={`${id}-below`} error={wrong} />}
    </div>
  );
}
