/**
 * Keeps on disk whether this node is alone, and so admits requests without permits. After a crash, the next
 * process reads whether there may be such requests that the control plane does not know of.
 */
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const OWNER_ONLY = 0o600;

/** The mark file. Only one node at a time uses its folder. */
export class AloneMark {
  readonly #folder: string;
  readonly #path: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#path = join(folder, 'permits.json');
  }

  /** True only if the mark says that the last process left no unreported requests without permits. */
  get saysNotAlone(): boolean {
    try {
      const content: unknown = JSON.parse(readFileSync(this.#path, 'utf8'));
      return typeof content === 'object' && content !== null && 'alone' in content && content.alone === false;
    } catch {
      // The mark is missing or damaged: assume that the node was alone.
      return false;
    }
  }

  /** Writes the mark. Returns when the mark is durable. Throws the error of the file system. */
  write(alone: boolean): void {
    const next = `${this.#path}.tmp`;
    writeFileSync(next, JSON.stringify({ alone }), { mode: OWNER_ONLY, flush: true });
    renameSync(next, this.#path);
    // The rename must survive a power failure, too: otherwise the old mark could come back.
    const folder = openSync(this.#folder, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  }
}
