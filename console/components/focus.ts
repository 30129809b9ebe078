/** Keeps the keyboard focus on the page when the control that had it goes away. */

/** Focuses the content of the page if nothing has the focus. Call it after the control is removed. */
export function focusContentIfLost(): void {
  if (document.activeElement === document.body)
    document.getElementById('content')?.focus({ preventScroll: true });
}
