/**
 * Writes the configuration in use to the file, and then acknowledges it, while the node serves requests, so
 * that a node that receives changes without a pause still reports its progress. If the write fails, the file
 * is removed first: no start may bring back a configuration from before. If it can be neither written nor
 * removed, nothing is acknowledged until a later write or removal succeeds.
 */
import type { ConfigFile, StoredConfig } from './file.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import type { TableChange } from './tables.ts';

/** Shortest interval at which confirmations are written to the file, in ms. */
const CONFIRMED_EVERY_MS = 60_000;

/** Tables in use that are not in the file yet. Without a change, they came as a snapshot. */
interface Unwritten {
  change: TableChange | undefined;
  stored: StoredConfig;
}

interface ConfigWriterParts {
  file: Pick<ConfigFile, 'writeDeltas' | 'writeSnapshot' | 'writeConfirmed' | 'discard'>;
  acks: Acknowledgements;
  /** Called if the file could not be written. The next write replaces it. */
  onTrouble(error: unknown): void;
}

/** Writes one after another. No method rejects. */
export class ConfigWriter {
  readonly #parts: ConfigWriterParts;
  #unwritten: Unwritten[] = [];
  #work: Promise<void> = Promise.resolve();
  #writtenAt = 0;
  /** Whether the file may be older than the tables in use: it could be neither written nor removed. */
  #isStale = false;

  constructor(parts: ConfigWriterParts) {
    this.#parts = parts;
  }

  /** Writes the tables after a change, or after a snapshot without one, and then acknowledges them. */
  write(stored: StoredConfig, change: TableChange | undefined): void {
    this.#unwritten.push({ change, stored });
    this.#enqueue(() => this.#writeAll());
  }

  /** Writes that the tables were confirmed, at most once a minute. */
  confirm(stored: StoredConfig): void {
    const elapsed = stored.confirmedAt - this.#writtenAt;
    if (elapsed < CONFIRMED_EVERY_MS && elapsed >= 0) return;
    this.#writtenAt = stored.confirmedAt;
    this.#enqueue(() => this.#parts.file.writeConfirmed(stored));
  }

  /**
   * Acknowledges the tables in use again, unless they were accepted or the acknowledgement is still to come.
   * Writes them first if the file may be older.
   */
  acknowledgeAgain(stored: StoredConfig): void {
    const { acks } = this.#parts;
    if (this.#unwritten.length > 0 || acks.isSending) return;
    if (this.#isStale) this.write(stored, undefined);
    else if (acks.accepted !== stored.tables.revision) this.#acknowledge(stored.tables);
  }

  /** Resolves when everything is written and acknowledged. */
  async settled(): Promise<void> {
    do await this.#work;
    while (this.#unwritten.length > 0);
    await this.#parts.acks.settled();
  }

  /** Writes everything that arrived during the last write at once. */
  async #writeAll(): Promise<void> {
    const written = [...this.#unwritten];
    const stored = written.at(-1)?.stored;
    if (!stored) return;
    this.#writtenAt = stored.confirmedAt;
    const snapshotAt = written.findLastIndex(({ change }) => change === undefined);
    const snapshot = written[snapshotAt];
    const changes = written.slice(snapshotAt + 1).flatMap(({ change }) => change ?? []);
    this.#isStale = true;
    try {
      if (snapshot) await this.#parts.file.writeSnapshot(snapshot.stored);
      if (changes.length > 0) await this.#parts.file.writeDeltas(changes, stored);
      this.#isStale = false;
    } catch (error) {
      await this.#parts.file.discard();
      this.#isStale = false;
      throw error;
    } finally {
      this.#unwritten.splice(0, written.length);
      if (!this.#isStale) this.#acknowledge(stored.tables);
    }
  }

  #acknowledge({ revision, checksum }: StoredConfig['tables']): void {
    this.#parts.acks.add({ revision, checksum });
  }

  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => this.#parts.onTrouble(error));
  }
}
