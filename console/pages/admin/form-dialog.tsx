/** The dialog of every change by an administrator: its fields, the reason to be kept, and what failed. */
import { CircleAlert } from 'lucide-react';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CombinedError } from 'urql';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { Banner } from '../../components/notice.tsx';
import { useFailureWords } from '../failure-words.ts';

const REASON_CHARACTERS_MAX = 500;

/** What a mutation came back with. */
export interface Outcome {
  error?: CombinedError | undefined;
  userErrors: readonly { code: string; message: string; field: string[] | null }[] | undefined;
}

interface FormDialogProps {
  title: string;
  sentence?: ReactNode;
  button: string;
  destructive?: boolean;
  wide?: boolean;
  /** Sends the values; the dialog closes when nothing failed. */
  send: (values: FormData, reason: string) => Promise<Outcome>;
  onClose: () => void;
  /** Called in place of closing when nothing failed. */
  onDone?: () => void;
  children?: ReactNode;
}

/** The dialog; the service's own sentence is shown when it refused a value. */
export function FormDialog(props: FormDialogProps) {
  const { title, sentence, button, destructive = false, wide = false, onClose, children } = props;
  const { t } = useTranslation();
  const id = useId();
  const { busy, failure, submit } = useSubmit(props);
  const footer = (
    <>
      <Button variant="ghost" onClick={onClose}>
        {t('dialog.cancel')}
      </Button>
      <Button type="submit" form={id} variant={destructive ? 'destructive' : 'primary'} busy={busy}>
        {button}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={title} sentence={sentence} wide={wide} footer={footer}>
      <form id={id} className="flex flex-col gap-5" onSubmit={(event) => void submit(event)}>
        {failure !== undefined && (
          <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
            {failure}
          </Banner>
        )}
        {children}
        <Field
          label={t('admin.reason')}
          hint={t('admin.reasonHint')}
          name="reason"
          required
          maxLength={REASON_CHARACTERS_MAX}
          autoComplete="off"
        />
      </form>
    </Dialog>
  );
}

function useSubmit({ send, onClose, onDone = onClose }: FormDialogProps) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const failureWords = useFailureWords();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const values = new FormData(event.currentTarget);
    setBusy(true);
    const { error, userErrors } = await send(values, text(values, 'reason'));
    setBusy(false);
    const [first] = userErrors ?? [];
    const words = first?.code === 'INVALID' ? first.message : failureWords(error, userErrors);
    setFailure(words);
    if (words === undefined) onDone();
  };
  return { busy, failure, submit };
}

/** The text of a field, trimmed. */
export function text(values: FormData, name: string): string {
  const value = values.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** The checked values of a group of boxes, or the one of a list, as far as they are known words. */
export function words<Word extends string>(values: FormData, name: string, known: readonly Word[]): Word[] {
  return known.filter((word) => values.getAll(name).includes(word));
}
