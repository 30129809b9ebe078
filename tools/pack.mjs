/** Compresses built files at build time: writes a .br and a .gz next to each text file above SIZE_MIN. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** Text formats. Pictures and fonts are compressed already. */
const TEXTS = /\.(?:js|css|svg|json|map)$/;
/** Minimum size in bytes: a smaller file fits into one packet anyway. */
const SIZE_MIN = 1_024;
/** The best Brotli quality takes ten times as long as the one below it, for 7 % fewer bytes. */
const QUALITY = { best: 11, large: 9 };
/** Size in bytes from which a file is compressed with the lower quality: the editor of the API explorer. */
const LARGE_FROM = 524_288;

/** Compresses all text files below a folder. */
export function packFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !TEXTS.test(entry.name)) continue;
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    const content = readFileSync(file);
    if (content.length < SIZE_MIN) continue;
    const quality = content.length < LARGE_FROM ? QUALITY.best : QUALITY.large;
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
  }
}
