/** The dialog for every change by an administrator: its fields, and the reason for the audit log. */
import { Field } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { TaskDialog, type TaskDialogProps } from '../task-dialog.tsx';
import type { Outcome } from '../use-submit.ts';

const REASON_CHARACTERS_MAX = 500;

interface FormDialogProps extends Omit<TaskDialogProps, 'send'> {
  /** Sends the values; the dialog closes if this succeeds. */
  send: (values: FormData, reason: string) => Promise<Outcome>;
}

/** The dialog. */
export function FormDialog({ send, children, ...props }: FormDialogProps) {
  return (
    <TaskDialog {...props} send={(values) => send(values, text(values, 'reason'))}>
      {children}
      <ReasonField />
    </TaskDialog>
  );
}

/** The reason of a change, which the audit log keeps. */
export function ReasonField() {
  const { t } = useTranslation();
  return (
    <Field
      label={t('admin.reason')}
      hint={t('admin.reasonHint')}
      name="reason"
      required
      maxLength={REASON_CHARACTERS_MAX}
      autoComplete="off"
    />
  );
}

/** The trimmed text of a field. */
export function text(values: FormData, name: string): string {
  return textIn(values, name).trim();
}

/** The checked values of checkboxes, or the value of a select; only values that are in `known`. */
export function words<Word extends string>(values: FormData, name: string, known: readonly Word[]): Word[] {
  return known.filter((word) => values.getAll(name).includes(word));
}
