/** Renders toasts at the bottom right, on a phone at the top. Its own chunk, loaded with the first toast. */
import { Toast as Base } from '@base-ui/react/toast';
import { CircleCheck, CircleX, X } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from '../translation.ts';
import type { ToastMessage } from './toast-message.ts';

const SHOWN_MS = 5_000;
const TOASTS_MAX = 3;

const manager = Base.createToastManager();
const shown = new WeakSet<ToastMessage>();

function show(message: ToastMessage): void {
  if (shown.has(message)) return;
  shown.add(message);
  const { text, failed = false, action } = message;
  const id = manager.add({
    title: text,
    type: failed ? 'failed' : 'done',
    priority: failed ? 'high' : 'low',
    ...(action && {
      actionProps: {
        children: action.word,
        onClick: () => {
          manager.close(id);
          action.run();
        },
      },
    }),
  });
}

/** Shows each message once, for five seconds. */
export function ToastLayer({ messages }: { messages: readonly ToastMessage[] }) {
  useEffect(() => {
    for (const message of messages) show(message);
  }, [messages]);
  return (
    <Base.Provider toastManager={manager} timeout={SHOWN_MS} limit={TOASTS_MAX}>
      <Base.Portal>
        <Base.Viewport className={VIEWPORT}>
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

const VIEWPORT =
  'fixed z-[60] flex w-[400px] max-w-[calc(100vw-32px)] flex-col gap-2 outline-none ' +
  'right-6 bottom-6 max-sm:top-4 max-sm:right-4 max-sm:bottom-auto';

function Toasts() {
  const { toasts } = Base.useToastManager();
  const { t } = useTranslation();
  return toasts.map((toast) => (
    <Base.Root key={toast.id} toast={toast} className={TOAST}>
      {toast.type === 'failed' ? (
        <CircleX size={16} strokeWidth={1.75} className="flex-none text-bad" aria-hidden="true" />
      ) : (
        <CircleCheck size={16} strokeWidth={1.75} className="flex-none text-good" aria-hidden="true" />
      )}
      <Base.Title render={<div />} className="min-w-0 flex-1 text-table" />
      {toast.actionProps && <Base.Action className={ACTION} />}
      <Base.Close aria-label={t('dialog.close')} className="text-ink-3 touch:size-11">
        <X size={16} strokeWidth={1.75} className="mx-auto" />
      </Base.Close>
    </Base.Root>
  ));
}

const TOAST =
  'floating flex min-h-11 items-center gap-3 rounded-card border ' +
  'border-line-strong bg-raise py-2 pr-3 pl-3.5 shadow-float';
const ACTION =
  'h-7 flex-none rounded-control border border-line-strong px-2.5 ' +
  'text-table font-[550] hover:bg-hover touch:h-11';
