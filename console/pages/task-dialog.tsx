/** A dialog with a form: its fields, a button that sends them, and the error. */
import { CircleAlert } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Banner } from '../components/notice.tsx';
import { useTranslation } from '../translation.ts';
import { type Outcome, useSubmit } from './use-submit.ts';

export interface TaskDialogProps {
  title: string;
  sentence?: ReactNode;
  button: string;
  /** The name of the button that closes the dialog; by default "Cancel". */
  dismiss?: string;
  destructive?: boolean;
  wide?: boolean;
  /** Sends the values; the dialog closes if this succeeds. */
  send: (values: FormData) => Promise<Outcome | undefined>;
  onClose: () => void;
  /** Called on success instead of closing. */
  onDone?: (() => void) | undefined;
  children?: ReactNode;
}

/** The dialog. */
export function TaskDialog({ title, sentence, button, dismiss, ...props }: TaskDialogProps) {
  const { destructive = false, wide = false, send, onClose, onDone = onClose, children } = props;
  const { t } = useTranslation();
  const id = useId();
  const { busy, failure, submit } = useSubmit({ send, onDone });
  const footer = (
    <>
      <Button variant="ghost" onClick={onClose}>
        {dismiss ?? t('dialog.cancel')}
      </Button>
      <Button type="submit" form={id} variant={destructive ? 'destructive' : 'primary'} busy={busy}>
        {button}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={title} sentence={sentence} wide={wide} footer={footer}>
      <form id={id} className="flex flex-col gap-5" onSubmit={(event) => void submit(event)}>
        {failure !== undefined && <FailureBanner words={failure} />}
        {children}
      </form>
    </Dialog>
  );
}

/** An error at the top of a form; screen readers read it at once. */
export function FailureBanner({ words }: { words: string }) {
  return (
    <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
      {words}
    </Banner>
  );
}
