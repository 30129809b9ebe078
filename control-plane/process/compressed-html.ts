/**
 * Compresses the HTML of the console. It differs by page, by language, and by whether there are a session
 * cookie and parameters, but holds no word of the request and no secret: what an attacker adds to a request
 * does not change its size (https://www.breachattack.com). So there are a few hundred texts, and each is
 * compressed once.
 */
import type { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
/** 17 kB become 3.0 kB in 2 ms. The best quality takes 29 ms, for 0.3 kB less. */
const BROTLI_QUALITY = 5;

/** Encodings in the order of preference. Each compresses on another thread. */
const ENCODINGS = {
  br: (text: string): Promise<Buffer> =>
    brotliAsync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text: string): Promise<Buffer> => gzipAsync(text),
} as const;
type Encoding = keyof typeof ENCODINGS;

/** More texts than pages have. The oldest is dropped when another one is added. */
const KEPT_MAX = 1_000;

/** An encoded text. */
interface Encoded {
  encoding: Encoding;
  bytes: Buffer;
}

/** The texts that were compressed. */
export class CompressedHtml {
  readonly #kept = new Map<string, Promise<Buffer>>();

  /** The text in the best encoding of an Accept-Encoding header; undefined if it names none of ours. */
  async encoded(html: string, acceptEncoding: string): Promise<Encoded | undefined> {
    const encoding = encodingOf(acceptEncoding);
    return encoding && { encoding, bytes: await this.#bytes(html, encoding) };
  }

  #bytes(html: string, encoding: Encoding): Promise<Buffer> {
    const name = `${encoding} ${html}`;
    const known = this.#kept.get(name);
    if (known) return known;
    const bytes = ENCODINGS[encoding](html);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < KEPT_MAX) break;
      this.#kept.delete(oldest);
    }
    this.#kept.set(name, bytes);
    return bytes;
  }
}

/** The first of our encodings that the header names without forbidding it. */
function encodingOf(acceptEncoding: string): Encoding | undefined {
  const accepted = new Set<string>();
  for (const part of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', weight = ''] = part.split(';').map((each) => each.trim());
    if (!/^q=0(?:\.0*)?$/.test(weight)) accepted.add(name);
  }
  return (['br', 'gzip'] as const).find((encoding) => accepted.has(encoding));
}
