/**
 * Says on the disk whether this node acts alone, so that after a crash it is known whether requests were
 * admitted that nobody counted.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const OWNER_ONLY = 0o600;

/** The mark in one folder, which belongs to one node at a time. */
export class AloneMark {
  readonly #folder: string;
  readonly #path: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, 'permits.json');
  }

  /** True only where the last process is known to have left nothing uncounted. */
  get isClear(): boolean {
    try {
      const kept: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      return typeof kept === 'object' && kept !== null && 'alone' in kept && kept.alone === false;
    } catch {
      // Missing or damaged: then nobody knows, which is the careful answer.
      return false;
    }
  }

  /** Durable when it returns. Throws where the disk refuses. */
  write(alone: boolean): void {
    const next = `${this.#path}.tmp`;
    writeFileSync(next, JSON.stringify({ alone }), { mode: OWNER_ONLY, flush: true });
    renameSync(next, this.#path);
    // The new name has to survive a power failure, too: else the old mark comes back and says the opposite.
    const folder = openSync(this.#folder, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }
}
