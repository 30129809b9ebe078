/** Keeps uploads from using the last free space of a disk, which may be the disk of the journal. */
import { statfs } from 'node:fs/promises';
import { SPOOL_DISK_CHECK_MS, SPOOL_DISK_RESERVE_BYTES } from '../limits.ts';

/** How the free space of a disk is measured; tests measure with other functions. */
export interface DiskGauge {
  /** Free bytes of the file system. Rejects if it cannot be measured. */
  freeBytes(): Promise<number>;
  /** Time of a monotonic clock, in ms. */
  now(): number;
}

/** The gauge of the file system of the folder. */
export function gaugeOf(folder: string): DiskGauge {
  return {
    freeBytes: async () => {
      const { bavail, bsize } = await statfs(folder);
      return bavail * bsize;
    },
    now: () => performance.now(),
  };
}

/** The free space of a disk above `SPOOL_DISK_RESERVE_BYTES`, measured every `SPOOL_DISK_CHECK_MS`. */
export class FreeDisk {
  readonly #gauge: DiskGauge;
  #measured: { at: number; free: Promise<number> } | undefined;
  /** Bytes that were taken since the space was measured. */
  #taken = 0;

  constructor(gauge: DiskGauge) {
    this.#gauge = gauge;
  }

  /** Takes the bytes. Returns false, and takes none, if too little would stay free. Rejects as the gauge. */
  async take(bytes: number): Promise<boolean> {
    const free = await this.#free();
    if (free - this.#taken - bytes < SPOOL_DISK_RESERVE_BYTES) return false;
    this.#taken += bytes;
    return true;
  }

  #free(): Promise<number> {
    const now = this.#gauge.now();
    if (!this.#measured || now - this.#measured.at >= SPOOL_DISK_CHECK_MS) {
      this.#measured = { at: now, free: this.#gauge.freeBytes() };
      this.#taken = 0;
    }
    return this.#measured.free;
  }
}
