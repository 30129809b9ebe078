/** Packs built files, so that whoever serves them need not: beside each that becomes smaller a .br and a .gz. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Texts; pictures and fonts are packed by themselves. */
const TEXTS = /\.(?:js|css|svg|json|map)$/;
/** Below this a packet holds the file anyway; bytes. */
const SIZE_MIN = 1_024;
/** One more takes a build ten times as long, for 6 % less. */
const QUALITY = 9;

/** Packs all files below a folder. */
export function packFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !TEXTS.test(entry.name)) continue;
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    const content = readFileSync(file);
    if (content.length < SIZE_MIN) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
  }
}
