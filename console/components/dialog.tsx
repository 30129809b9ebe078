/**
 * Modal dialogs. The confirming button is at the right of the footer. On a phone, dialogs open at the bottom.
 */
import { Dialog as Base } from '@base-ui/react/dialog';
import { clsx } from 'clsx';
import { X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { useTranslation } from '../translation.ts';

interface DialogProps {
  open: boolean;
  /**
   * Called after Escape, a press outside the dialog, or a press of the close button. The caller closes the
   * dialog by setting `open` to false.
   */
  onClose: () => void;
  title: string;
  sentence?: ReactNode;
  /** 640 px wide instead of 480 px. */
  wide?: boolean;
  /** At the right edge of the window, as high as the window; on a phone like every dialog. */
  drawer?: boolean;
  /** Hides other open dialogs, which keep their input, until this one closes. */
  alone?: boolean;
  footer?: ReactNode;
  children: ReactNode;
}

/** A modal dialog. The keyboard focus stays inside it, and returns to its earlier element after the close. */
export function Dialog({ open, onClose, title, sentence, footer, children, ...look }: DialogProps) {
  const { wide = false, drawer = false, alone = false } = look;
  const { t } = useTranslation();
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root
      open={open}
      onOpenChange={(next) => {
        // If several dialogs are open, Escape or a press beside them closes only the topmost one.
        if (!next && isTopmost(popup.current)) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className={SCRIM} />
        <Base.Popup
          ref={popup}
          data-part="dialog"
          data-alone={alone || undefined}
          initialFocus={() => firstControl(popup.current)}
          className={clsx(POPUP, drawer ? DRAWER : CENTRED, wide ? 'sm:max-w-[640px]' : 'sm:max-w-[480px]')}
        >
          <div className="flex items-start gap-4 px-6 pt-6 max-sm:px-4 max-sm:pt-5">
            <div className="min-w-0 flex-1">
              <Base.Title className="text-section">{title}</Base.Title>
              {sentence !== undefined && (
                <Base.Description className="mt-0.5 text-ink-2">{sentence}</Base.Description>
              )}
            </div>
            <Base.Close aria-label={t('dialog.close')} className={CROSS}>
              <X size={16} strokeWidth={1.75} />
            </Base.Close>
          </div>
          <div
            data-part="body"
            // A drawer without controls is scrolled by keys once Tab has reached it.
            tabIndex={drawer && footer === undefined ? 0 : undefined}
            className="min-h-0 flex-1 overflow-y-auto px-6 py-5 max-sm:px-4"
          >
            {children}
          </div>
          {footer !== undefined && (
            <div data-part="footer" className={FOOTER}>
              {footer}
            </div>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

// Selectors of the element with the initial focus, by priority. The close button is not one of them, although
// it is the first button of the dialog.
const FIRST_CONTROLS = [
  '[data-focus-first]',
  '[data-part=body] :is(input, textarea, button)',
  '[data-part=footer] button:last-of-type',
];

function firstControl(popup: HTMLElement | null): HTMLElement | null {
  for (const selector of FIRST_CONTROLS) {
    const found = popup?.querySelector<HTMLElement>(selector);
    if (found) return found;
  }
  return null;
}

function isTopmost(popup: HTMLElement | null): boolean {
  return [...document.querySelectorAll('[data-part=dialog]')].at(-1) === popup;
}

// The backdrop has the z-index of dialogs, so that the backdrop of a second dialog covers the first dialog.
const SCRIM =
  'fixed inset-0 z-50 bg-(--scrim) transition-opacity duration-200 ' +
  'data-ending-style:opacity-0 data-starting-style:opacity-0';
const POPUP =
  'fixed z-50 flex w-full flex-col border ' +
  'border-line bg-raise shadow-dialog outline-none ' +
  'inset-x-0 max-sm:bottom-0 max-sm:max-h-[92dvh] max-sm:rounded-t-dialog ' +
  '[body:has([data-alone])_&:not([data-alone])]:invisible';
const CENTRED = 'dialog-motion m-auto sm:inset-0 sm:h-fit sm:max-h-[calc(100dvh-48px)] sm:rounded-dialog';
const DRAWER = 'drawer-motion sm:inset-y-0 sm:right-0 sm:left-auto sm:border-y-0 sm:border-r-0';
const FOOTER =
  'flex flex-wrap items-center justify-end gap-3 border-t border-line px-6 py-4 max-sm:px-4 ' +
  'max-sm:pb-[max(16px,env(safe-area-inset-bottom))]';
const CROSS =
  '-mt-1 -mr-2 inline-flex size-7 flex-none items-center justify-center rounded-control text-ink-2 ' +
  'hover:bg-hover touch:size-11';
