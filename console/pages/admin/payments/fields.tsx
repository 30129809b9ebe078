/** Inputs that the dialogs of payments share: an amount of dollars, and a secret. */
import type { ComponentProps } from 'react';
import { Field } from '../../../components/field.tsx';

type FieldProps = ComponentProps<typeof Field>;

/** An amount in whole cents. */
export function AmountField(props: FieldProps) {
  return (
    <Field
      inputMode="decimal"
      required
      pattern="[0-9]+([.][0-9]{1,2})?"
      before={<span className="text-ink-3">$</span>}
      autoComplete="off"
      {...props}
    />
  );
}

/** A secret. Browsers neither show nor store it. */
export function SecretField(props: FieldProps) {
  return <Field type="password" autoComplete="new-password" spellCheck={false} {...props} />;
}
