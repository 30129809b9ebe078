/** The title of the browser tab. */
import { useEffect } from 'react';
import { titleText } from './title-text.ts';

/** Sets the title of the browser tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = titleText(title);
  }, [title]);
}
