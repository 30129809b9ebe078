/** The checksum that proves that control plane and node hold the same configuration. */
import { hash } from 'node:crypto';

const BYTES = 32;

/**
 * XOR of SHA-256(kind NUL key NUL revision) over all live entries: independent of order, and changed in
 * constant time
 * by one entry coming or going.
 */
export class ConfigChecksum {
  readonly #sum = Buffer.alloc(BYTES);

  /** Goes on from a sum that `value` gave. */
  static from(value: string): ConfigChecksum {
    const checksum = new ConfigChecksum();
    Buffer.from(value, 'hex').copy(checksum.#sum);
    return checksum;
  }

  /** Adds an entry that was absent, or takes away one that was present. */
  toggle(kind: string, key: string, revision: number): void {
    // At once: 100,000 objects that hash in parts would keep memory that no collector counts.
    const digest = hash('sha256', `${kind}\0${key}\0${revision}`, 'buffer');
    for (let at = 0; at < BYTES; at += 1) this.#sum[at] = (this.#sum[at] ?? 0) ^ (digest[at] ?? 0);
  }

  /** Lower-case hex. */
  get value(): string {
    return this.#sum.toString('hex');
  }
}
