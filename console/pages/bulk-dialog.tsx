/** A dialog for an action on several rows: confirms it, sends it row by row, and names failed rows. */
import { CircleAlert } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Banner } from '../components/notice.tsx';
import { useTranslation } from '../translation.ts';

/** Requests that are sent at the same time. */
const AT_ONCE = 4;

interface Row {
  id: string;
  name: string;
}

interface BulkDialogProps {
  title: string;
  sentence?: ReactNode;
  button: string;
  destructive?: boolean;
  rows: readonly Row[];
  /** Changes one row; resolves to the reason if this fails. */
  send: (row: Row, values: FormData) => Promise<string | undefined>;
  onClose: () => void;
  /** Called after all rows were changed. */
  onDone: () => void;
  /** Fields of the change. */
  children?: ReactNode;
}

interface Failed extends Row {
  reason: string;
}

/** The dialog. It stays open if a row failed. */
export function BulkDialog({ title, sentence, button, rows, onClose, onDone, ...props }: BulkDialogProps) {
  const { destructive = false, children } = props;
  const { t } = useTranslation();
  const id = useId();
  const { done, failed, run } = useRun(rows, props.send);
  const busy = done !== undefined && failed === undefined;
  const submit = async (values: FormData) => {
    if ((await run(values)).length === 0) onDone();
  };
  // The rest of the rows is sent whatever happens to the dialog, so it stays until the last answer.
  const leave = failed ? onDone : busy ? () => undefined : onClose;
  const footer =
    failed === undefined ? (
      <>
        <Button variant="ghost" disabled={busy} onClick={onClose}>
          {t('dialog.cancel')}
        </Button>
        <Button type="submit" form={id} variant={destructive ? 'destructive' : 'primary'} busy={busy}>
          {button}
        </Button>
      </>
    ) : (
      <Button variant="primary" onClick={onDone}>
        {t('dialog.close')}
      </Button>
    );
  return (
    <Dialog open onClose={leave} title={title} sentence={sentence} footer={footer}>
      <form
        id={id}
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(new FormData(event.currentTarget));
        }}
      >
        {failed ? <Failures failed={failed} all={rows.length} /> : <Names rows={rows} />}
        {!failed && children}
        <p role="status" className="text-table text-ink-2">
          {busy && t('table.progress', { done, all: rows.length })}
        </p>
      </form>
    </Dialog>
  );
}

function Names({ rows }: { rows: readonly Row[] }) {
  return (
    <ul
      className="max-h-48 overflow-y-auto rounded-control border border-line px-3 py-2 text-table"
      tabIndex={0}
    >
      {rows.map(({ id, name }) => (
        <li key={id} className="py-0.5 break-words">
          {name}
        </li>
      ))}
    </ul>
  );
}

function Failures({ failed, all }: { failed: readonly Failed[]; all: number }) {
  const { t } = useTranslation();
  return (
    <Banner tone="bad" alert icon={<CircleAlert size={16} strokeWidth={1.75} aria-hidden="true" />}>
      {t('table.notAll', { failed: failed.length, all })}
      <ul className="mt-1">
        {failed.map(({ id, name, reason }) => (
          <li key={id} className="break-words">
            {t('table.failedRow', { name, reason })}
          </li>
        ))}
      </ul>
    </Banner>
  );
}

/** Sends all rows, a few at a time. `failed` is undefined until the last answer. */
function useRun(rows: readonly Row[], send: BulkDialogProps['send']) {
  const [done, setDone] = useState<number>();
  const [failed, setFailed] = useState<readonly Failed[]>();
  const run = async (values: FormData): Promise<readonly Failed[]> => {
    setDone(0);
    const waiting = [...rows];
    const bad: Failed[] = [];
    const work = async () => {
      for (let row = waiting.shift(); row; row = waiting.shift()) {
        const reason = await send(row, values);
        if (reason !== undefined) bad.push({ ...row, reason });
        setDone((count = 0) => count + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (bad.length > 0) setFailed(bad);
    return bad;
  };
  return { done, failed, run };
}
