/** Toasts: a short confirmation with at most one action. Errors that need reading are not toasts. */
import { Toast as Base } from '@base-ui/react/toast';
import { CircleCheck, CircleX, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

const SHOWN_MS = 5_000;

export interface ToastMessage {
  text: string;
  failed?: boolean;
  action?: { word: string; run: () => void };
}

/** Makes room for toasts above everything inside it. */
export function ToastHost({ children }: { children: ReactNode }) {
  return (
    <Base.Provider timeout={SHOWN_MS} limit={3}>
      {children}
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

/** Shows a toast; it stays while hovered or focused. */
export function useToast(): (message: ToastMessage) => void {
  const manager = Base.useToastManager();
  return ({ text, failed = false, action }) => {
    const id = manager.add({
      description: text,
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
  };
}

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
      <Base.Description className="min-w-0 flex-1 text-table" />
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
