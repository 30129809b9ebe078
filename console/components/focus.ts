/** Keeps the keyboard focus on the page when the control that had it goes away. */

/** Focuses the content of the page if nothing has the focus. Call it after the control is removed. */
export function focusContentIfLost(): void {
  if (document.activeElement === document.body)
    document.getElementById('content')?.focus({ preventScroll: true });
}

/**
 * Where the focus goes when a popup closes: to the button that opened it, or nowhere (false) if something
 * outside of the popup has the focus already, such as a form that an entry of the menu opened.
 */
export function focusAfter(
  popup: HTMLElement | null,
  button: HTMLElement | null,
): HTMLElement | null | false {
  const { activeElement, body } = document;
  const isFree = !activeElement || activeElement === body || popup?.contains(activeElement) === true;
  // Elements of this kind stand around an open popup and are removed with it.
  return isFree || activeElement.matches('[data-base-ui-focus-guard]') ? button : false;
}
