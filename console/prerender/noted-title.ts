/** Replaces `components/page-title.ts` while the build renders pages: notes the title for their HTML. */
import { titleText } from '../components/title-text.ts';

let noted: string | undefined;

/** Notes the title of the page that is rendered. */
export function useTitle(title: string): void {
  noted = titleText(title);
}

/** The title of the page that was rendered since the last call. Throws an Error if there is none. */
export function takeTitle(): string {
  if (noted === undefined) throw new Error('The rendered page has no title.');
  const title = noted;
  noted = undefined;
  return title;
}
