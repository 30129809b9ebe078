/**
 * Compresses the HTML of the console and of the API explorer. The console's differs by page, by language, and
 * by whether there are a session cookie and parameters, but holds no word of the request and no secret: what
 * an attacker adds to a request does not change its size (https://www.breachattack.com). So there are a few
 * hundred texts, and each is compressed once.
 */
import type { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
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
type Encoders = Readonly<Record<Encoding, (text: string) => Promise<Buffer>>>;
const NAMES = Object.keys(ENCODINGS) as Encoding[];

/** More texts than pages have. The oldest is dropped when another one is added. */
const KEPT_MAX = 1_000;

/** An encoded text. */
interface Encoded {
  encoding: Encoding;
  bytes: Buffer;
}

/** The texts that were compressed. */
export class CompressedHtml {
  readonly #encoders: Encoders;
  /** By encoding and digest of the text. */
  readonly #kept = new Map<string, Promise<Buffer>>();

  constructor(encoders: Encoders = ENCODINGS) {
    this.#encoders = encoders;
  }

  /**
   * The text in the best encoding of an Accept-Encoding header; undefined if the header names none of ours,
   * or if the compression failed.
   */
  async encoded(html: string, acceptEncoding: string): Promise<Encoded | undefined> {
    const encoding = encodingOf(acceptEncoding);
    if (!encoding) return undefined;
    const bytes = await this.#bytes(html, encoding).catch(() => undefined);
    return bytes && { encoding, bytes };
  }

  #bytes(html: string, encoding: Encoding): Promise<Buffer> {
    const name = `${encoding} ${createHash('sha256').update(html).digest('base64')}`;
    const known = this.#kept.get(name);
    if (known) return known;
    const bytes = this.#encoders[encoding](html);
    // The next request tries again.
    bytes.catch(() => this.#kept.delete(name));
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
  return NAMES.find((encoding) => accepted.has(encoding));
}
