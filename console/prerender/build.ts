/** Renders the first view of pages during the build. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { FirstView } from '@gateway/shared/console-pages';
import { build } from 'vite';

/**
 * Pages whose first view is the same for every visitor. Their HTML shows it before any script arrives, and
 * the scripts then continue it. It must not depend on answers, the fragment of the address, or the session.
 */
export const PRERENDERED = ['/sign-in', '/register', '/forgot-password', '/pricing'];

/** The first view of each page, by path and language. */
export async function prerenderPages(): Promise<ReadonlyMap<string, Readonly<Record<string, FirstView>>>> {
  const folder = mkdtempSync(path.join(tmpdir(), 'prerender-'));
  try {
    await build({
      configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
      logLevel: 'error',
      build: { ssr: 'prerender/render.tsx', outDir: folder, emptyOutDir: true },
    });
    const { prerender } = await import(pathToFileURL(path.join(folder, 'render.js')).href);
    const found = new Map<string, Record<string, FirstView>>();
    for (const page of PRERENDERED) found.set(page, await prerender(page));
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
