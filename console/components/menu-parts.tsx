/** Frame, place and choices of popups, for menus and searchable choices. */
import type { MenuChoice } from './menu-entries.ts';
import { Money } from './money.tsx';

/**
 * Where the popup is rendered: in the page's main landmark, so that it is part of one; if the button is in a
 * dialog, in the default container.
 */
export function containerFor(anchor: HTMLElement | null): { container?: HTMLElement } {
  const main = anchor?.closest('[role=dialog]') ? null : document.querySelector('main');
  return main ? { container: main } : {};
}

/** The frame of a popup. */
export const POPUP =
  'floating max-h-(--available-height) max-w-[calc(100vw-16px)] ' +
  'rounded-card border border-line bg-raise p-1 shadow-float outline-none ' +
  'max-sm:max-h-[75dvh] max-sm:w-full max-sm:max-w-none max-sm:rounded-b-none max-sm:border-x-0 ' +
  'max-sm:border-b-0 max-sm:p-2 max-sm:pb-[calc(8px+env(safe-area-inset-bottom))] max-sm:shadow-dialog';
/** The place of a popup. On a phone, it is a sheet at the bottom of the screen. */
export const POSITIONER =
  'z-50 outline-none max-sm:fixed! max-sm:inset-x-0! max-sm:top-auto! max-sm:bottom-0! max-sm:w-full! ' +
  'max-sm:transform-none!';

/** The name of a choice, with its description below and its amount at the right. */
export function Choice({ word, detail, amount, decimals }: MenuChoice & { decimals: number }) {
  if (detail === undefined && amount === undefined) return word;
  return (
    <>
      <span className="min-w-0 flex-1">
        <span className="[overflow-wrap:anywhere]">{word}</span>{' '}
        {detail !== '' && <span className="block text-hint text-ink-3">{detail}</span>}
      </span>
      {amount !== undefined && <Money amount={amount} align={decimals} className="tabular-nums" />}
    </>
  );
}
