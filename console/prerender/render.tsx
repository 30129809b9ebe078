/** Renders the first view of pages to HTML. Runs during the build. */
import { createMemoryHistory } from '@tanstack/react-router';
import { prerenderToNodeStream } from 'react-dom/static';
import { Console } from '../console.tsx';
import { type Language, LANGUAGES, loadWords } from '../i18n.ts';
import { consoleRouter } from '../routes.tsx';
import { changeLanguage } from '../translation.ts';
import type { FirstView } from '@gateway/shared/console-pages';
import { takeTitle } from './noted-title.ts';

/** React would move larger parts to the end of the HTML, and show them with an inline script. */
const ALL_IN_PLACE = Number.MAX_SAFE_INTEGER;

/** The title and the HTML of a page without answers of the service, by language. */
export async function prerender(path: string): Promise<Partial<Record<Language, FirstView>>> {
  const found: Partial<Record<Language, FirstView>> = {};
  for (const language of LANGUAGES) {
    changeLanguage(language);
    await loadWords(['frame']);
    const markup = await render(path);
    found[language] = { title: takeTitle(), markup };
  }
  return found;
}

async function render(path: string): Promise<string> {
  const router = consoleRouter(createMemoryHistory({ initialEntries: [path] }));
  // Its part in the HTML is an inline script.
  router.update({ scrollRestoration: false });
  await router.load();
  const { prelude } = await prerenderToNodeStream(<Console router={router} fromHtml />, {
    progressiveChunkSize: ALL_IN_PLACE,
    onError: (error) => {
      throw error;
    },
  });
  const parts: string[] = [];
  for await (const part of prelude) parts.push(String(part));
  return parts.join('');
}
