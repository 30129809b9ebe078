/** Renders the first view of pages during the build. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ConsolePage } from '@gateway/shared/console-pages';
import { build } from 'vite';

/**
 * Pages whose first view is the same for every visitor. Their HTML shows it before any script arrives, and
 * the scripts then continue it. It must not depend on answers, the fragment of the address, or the session.
 */
export const PRERENDERED = ['/sign-in', '/register', '/forgot-password', '/pricing'];

type Views = Pick<ConsolePage, 'firstViews' | 'sessionViews'>;

/**
 * The first views of pages, by path. Those of `headFirst` are for browsers with a session: frame and head of
 * the page, which are the same for every account.
 */
export async function prerenderPages(headFirst: readonly string[]): Promise<ReadonlyMap<string, Views>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'prerender-'));
  try {
    await build({
      configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
      logLevel: 'error',
      build: { ssr: 'prerender/render.tsx', outDir: folder, emptyOutDir: true },
    });
    const { prerender } = await import(pathToFileURL(path.join(folder, 'render.js')).href);
    const found = new Map<string, Views>();
    for (const page of PRERENDERED) found.set(page, { firstViews: await prerender(page) });
    for (const page of headFirst) found.set(page, { sessionViews: await prerender(page) });
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
