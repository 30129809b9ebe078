/** Entries of the configuration that are encoded once for all nodes. */
import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import type { ConfigEntry } from '@gateway/shared/node-api';

const compress = promisify(gzip);
const uncompress = promisify(gunzip);

/** An immutable list of entries. Once it is encoded, it has only the compressed bytes. */
export class ConfigPart {
  #source: (() => Promise<ConfigEntry[]>) | undefined;
  #bytes: Promise<Buffer> | undefined;

  private constructor(source: () => Promise<ConfigEntry[]>) {
    this.#source = source;
  }

  /** A part with these entries. */
  static of(entries: ConfigEntry[]): ConfigPart {
    return new ConfigPart(() => Promise.resolve(entries));
  }

  /** A part with the entries of others. */
  static joined(parts: readonly ConfigPart[]): ConfigPart {
    return new ConfigPart(async () => (await Promise.all(parts.map((part) => part.entries()))).flat());
  }

  /** A part without the entries of these ids, see `idOf`. */
  without(ids: ReadonlySet<string>): ConfigPart {
    if (ids.size === 0) return this;
    return new ConfigPart(async () => (await this.entries()).filter((entry) => !ids.has(idOf(entry))));
  }

  /** The entries, as nodes get them. */
  async entries(): Promise<ConfigEntry[]> {
    if (this.#source) return this.#source();
    const bytes = await uncompress(await this.#encoded());
    return JSON.parse(bytes.toString()) as ConfigEntry[];
  }

  /** The JSON of the entries, compressed with gzip, in base64. Encoded at the first call. */
  async packed(): Promise<string> {
    return (await this.#encoded()).toString('base64');
  }

  #encoded(): Promise<Buffer> {
    this.#bytes ??= this.#encode().catch((error: unknown) => {
      // The next call tries again.
      this.#bytes = undefined;
      throw error;
    });
    return this.#bytes;
  }

  /**
   * Compresses on another thread, with least effort: to a fifth of the size, at a twentieth of the time of
   * most effort.
   */
  async #encode(): Promise<Buffer> {
    const entries = this.#source ? await this.#source() : [];
    const bytes = await compress(JSON.stringify(entries), { level: constants.Z_BEST_SPEED });
    this.#source = undefined;
    return bytes;
  }
}

/** Identifies an entry among all. */
export function idOf({ kind, key }: Pick<ConfigEntry, 'kind' | 'key'>): string {
  return `${kind} ${key}`;
}
