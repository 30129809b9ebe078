/** The dialog of every change by an administrator: its fields, and the reason to be kept. */
import { Field } from '../../components/field.tsx';
import { useTranslation } from '../../translation.ts';
import { textIn } from '../form-values.ts';
import { TaskDialog, type TaskDialogProps } from '../task-dialog.tsx';
import type { Outcome } from '../use-submit.ts';

const REASON_CHARACTERS_MAX = 500;

interface FormDialogProps extends Omit<TaskDialogProps, 'send'> {
  /** Sends the values; the dialog closes when nothing failed. */
  send: (values: FormData, reason: string) => Promise<Outcome>;
}

/** The dialog; the service's own sentence is shown when it refused a value. */
export function FormDialog({ send, children, ...props }: FormDialogProps) {
  const { t } = useTranslation();
  return (
    <TaskDialog {...props} send={(values) => send(values, text(values, 'reason'))}>
      {children}
      <Field
        label={t('admin.reason')}
        hint={t('admin.reasonHint')}
        name="reason"
        required
        maxLength={REASON_CHARACTERS_MAX}
        autoComplete="off"
      />
    </TaskDialog>
  );
}

/** The text of a field, trimmed. */
export function text(values: FormData, name: string): string {
  return textIn(values, name).trim();
}

/** The checked values of a group of boxes, or the one of a list, as far as they are known words. */
export function words<Word extends string>(values: FormData, name: string, known: readonly Word[]): Word[] {
  return known.filter((word) => values.getAll(name).includes(word));
}
