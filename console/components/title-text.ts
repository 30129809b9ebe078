/** The text of the browser tab. */

const PRODUCT = 'Gateway';

/** The text of the tab for a page with this title. */
export function titleText(title: string): string {
  return `${title} · ${PRODUCT}`;
}
