/** Build of the API explorer, separate from the console so that its editor adds nothing to console pages. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

const DATA_FONT = /url\(["']?data:font\/([a-z0-9]+);base64,([A-Za-z0-9+/=]+)["']?\)/g;
const NAME_LENGTH = 8;

/** Moves fonts that are inlined in styles into files, because the page's policy forbids data: URLs. */
function fontFiles(): Plugin {
  return {
    name: 'font-files',
    generateBundle(_options, bundle) {
      for (const item of Object.values(bundle)) {
        if (item.type !== 'asset' || !item.fileName.endsWith('.css')) continue;
        item.source = String(item.source).replaceAll(DATA_FONT, (_all, kind: string, content: string) => {
          const source = Buffer.from(content, 'base64');
          const digest = createHash('sha256').update(source).digest('hex');
          const name = `font-${digest.slice(0, NAME_LENGTH)}.${kind}`;
          this.emitFile({ type: 'asset', fileName: `assets/${name}`, source });
          return `url(./${name})`;
        });
      }
    },
  };
}

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The control plane serves the page at /graphql and its files below that path.
  base: '/graphql/',
  publicDir: false,
  plugins: [react(), fontFiles()],
  build: {
    outDir: '../../dist/explorer',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
    // The editor is one large chunk, and no other page loads it.
    chunkSizeWarningLimit: 5_000,
  },
});
