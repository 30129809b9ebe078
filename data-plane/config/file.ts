/**
 * The file of the last good configuration, with which a node can start while the control plane is away. It
 * has a snapshot in parts, then the deltas and confirmations since, one in a line. The file is rewritten when
 * about as many entries were added as the snapshot has.
 */
import { open, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ConfigEntry } from '@gateway/shared/node-api';
import { RELEASE } from '@gateway/shared/release';
import { decode, encode, linesIn, snapshotLine } from './file-lines.ts';
import type { EntriesOfLine, Line } from './file-lines.ts';
import { freeBytes, pack, unpack } from './packed-entries.ts';
import { ReceivedLines } from './received-lines.ts';
import { NO_TABLES, TablesDraft, changed, entriesOf, sizeOf } from './tables.ts';
import type { TableChange, Tables } from './tables.ts';

/** The file is not rewritten before this many bytes were added to its snapshot. */
const ADDED_BYTES_MIN = 1 << 20;
/** Changes are not compressed: so many times the bytes of the snapshot have about as many entries. */
const ADDED_PER_SNAPSHOT = 4;
/**
 * Maximum entries per line of a snapshot. Requests are served between two lines, and a line of the largest
 * entries, pools of 67 kB, stays below the limit of a compressed list (packed-entries.ts).
 */
const LINE_ENTRIES = 500;
const OWNER_ONLY = 0o600;

/** Content of the file: the tables, and when the control plane last confirmed them (ms of the wall clock). */
export interface StoredConfig {
  tables: Tables;
  confirmedAt: number;
  /** The lines of the snapshot that the tables arrived as; absent after a change. */
  lines?: ReceivedLines | undefined;
}

/** A file that was read. */
interface LoadedConfig extends StoredConfig {
  /** Whether this release wrote the snapshot. Another one may have left out what it did not know. */
  isOwn: boolean;
}

/** The file is damaged. The message names the file and the line. */
class DamagedConfigFile extends Error {
  constructor(path: string, line: number, cause: unknown) {
    super(
      `${path} is damaged at line ${line}; it is ignored until the control plane sends the configuration`,
      { cause },
    );
    this.name = 'DamagedConfigFile';
  }
}

/** The configuration file at one path. The caller must not write concurrently. */
export class ConfigFile {
  readonly #path: string;
  #lines: ReceivedLines | undefined;
  #snapshotBytes = 0;
  /** Infinity while the file may be damaged; the next write then replaces it. */
  #addedBytes = Infinity;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Returns an empty list of lines, for a snapshot that begins to arrive. The list that was returned before
   * is dropped, unless its file is being moved already.
   */
  receive(): ReceivedLines {
    this.#lines = new ReceivedLines(`${this.#path}.received`, this.#lines?.drop());
    return this.#lines;
  }

  /** Reads the file; undefined if there is none. Throws DamagedConfigFile, or the error of the disk. */
  async load(): Promise<LoadedConfig | undefined> {
    // A process that was killed may have left a part of a snapshot.
    await rm(`${this.#path}.received`, { force: true }).catch(() => undefined);
    let file: FileHandle;
    try {
      file = await open(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      const reader = await replay(this.#path, file);
      if (reader.isComplete)
        [this.#snapshotBytes, this.#addedBytes] = [reader.snapshotBytes, reader.addedBytes];
      return reader.stored && { ...reader.stored, isOwn: reader.isOwn };
    } finally {
      await file.close();
    }
  }

  /**
   * Replaces the file durably: by the lines of the snapshot, or by the tables if there are no lines or if
   * they were dropped.
   */
  async writeSnapshot(stored: StoredConfig): Promise<void> {
    const { lines, confirmedAt } = stored;
    this.#addedBytes = Infinity;
    lines?.add({ type: 'confirmed', confirmedAt });
    const bytes = (await lines?.moveTo(this.#path)) ?? (await this.#writeTables(stored));
    await syncFolder(dirname(this.#path));
    this.#snapshotBytes = bytes;
    this.#addedBytes = 0;
  }

  /** Appends changes durably. `stored` is the state after them, in case the file must be rewritten. */
  async writeDeltas(changes: readonly TableChange[], stored: StoredConfig): Promise<void> {
    const { confirmedAt } = stored;
    await this.#append(
      changes.map((change) => ({ type: 'delta', change, confirmedAt })),
      stored,
    );
  }

  /** Appends the time of a confirmation. */
  async writeConfirmed(stored: StoredConfig): Promise<void> {
    await this.#append([{ type: 'confirmed', confirmedAt: stored.confirmedAt }], stored);
  }

  /** Removes the file. A start must not bring back keys that a later, unwritten state revoked. */
  async discard(): Promise<void> {
    this.#addedBytes = Infinity;
    await rm(this.#path, { force: true });
    await rm(`${this.#path}.tmp`, { force: true });
    await syncFolder(dirname(this.#path));
  }

  /** Writes and syncs a temporary file, and renames it. Returns its size. */
  async #writeTables(stored: StoredConfig): Promise<number> {
    const next = `${this.#path}.tmp`;
    const file = await open(next, 'w', OWNER_ONLY);
    let bytes = 0;
    try {
      await file.chmod(OWNER_ONLY);
      for await (const line of snapshotLines(stored)) {
        const text = encode(line);
        await file.appendFile(text);
        bytes += text.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, this.#path);
    return bytes;
  }

  async #append(lines: readonly Line[], stored: StoredConfig): Promise<void> {
    const mostBytes = Math.max(ADDED_BYTES_MIN, ADDED_PER_SNAPSHOT * this.#snapshotBytes);
    if (this.#addedBytes >= mostBytes) return this.writeSnapshot(stored);
    const bytes = Buffer.concat(lines.map(encode));
    const added = this.#addedBytes + bytes.length;
    this.#addedBytes = Infinity;
    const file = await open(this.#path, 'a', OWNER_ONLY);
    try {
      await file.appendFile(bytes);
      await file.datasync();
      this.#addedBytes = added;
    } finally {
      await file.close();
    }
  }
}

async function* snapshotLines({ tables, confirmedAt }: StoredConfig): AsyncGenerator<Line, undefined> {
  let left = Math.max(1, Math.ceil(sizeOf(tables) / LINE_ENTRIES));
  let isFirst = true;
  for await (const part of partsOf(tables)) {
    left -= 1;
    yield snapshotLine(part, left, isFirst ? { ...tables, confirmedAt } : undefined);
    isFirst = false;
  }
  return undefined;
}

/** All entries in compressed lists of at most `LINE_ENTRIES`. Yields at least one list. */
async function* partsOf(tables: Tables): AsyncGenerator<EntriesOfLine, undefined> {
  let part: ConfigEntry[] = [];
  for (const entry of entriesOf(tables)) {
    if (part.length === LINE_ENTRIES) {
      yield { entries: [], packed: await pack(part) };
      part = [];
    }
    part.push(entry);
  }
  yield { entries: [], packed: await pack(part) };
  return undefined;
}

/** An incomplete last line was never acknowledged and is ignored; any other error is damage. */
async function replay(path: string, file: FileHandle): Promise<Reader> {
  const reader = new Reader();
  let number = 0;
  for await (const line of linesIn(file)) {
    number += 1;
    try {
      reader.take(decode(line), line.length + 1);
      freeBytes(line);
    } catch (cause) {
      throw new DamagedConfigFile(path, number, cause);
    }
  }
  const { size } = await file.stat();
  if (!reader.stored && size > 0) throw new DamagedConfigFile(path, number + 1, undefined);
  reader.isComplete = size > 0 && size === reader.snapshotBytes + reader.addedBytes;
  return reader;
}

/** Replays the lines in order. */
class Reader {
  stored: StoredConfig | undefined;
  isOwn = false;
  /** Size of the lines of the snapshot, and of those after it. */
  snapshotBytes = 0;
  addedBytes = 0;
  /** Whether the last line is complete, so that lines can be added. */
  isComplete = false;
  #draft: { tables: TablesDraft; revision: number; checksum: string; confirmedAt: number } | undefined;

  /** Throws if the line does not fit the lines before it. */
  take(line: Line, bytes: number): void {
    if (line.type === 'snapshot' || line.type === 'entries') this.snapshotBytes += bytes;
    else this.addedBytes += bytes;
    if (line.type === 'snapshot') {
      const { revision, checksum, confirmedAt, release } = line;
      this.isOwn = release === RELEASE;
      this.#draft = { tables: new TablesDraft(NO_TABLES), revision, checksum, confirmedAt };
      // Earlier releases wrote a snapshot as one line without `left`.
      this.#fill(line, line.left ?? 0);
    } else if (line.type === 'entries') {
      this.#fill(line, line.left);
    } else {
      const { confirmedAt } = line;
      if (!this.stored || this.#draft) throw new Error('there is no complete snapshot before it');
      const { tables } = this.stored;
      this.stored = { tables: line.type === 'delta' ? changed(tables, line.change) : tables, confirmedAt };
    }
  }

  #fill({ entries, packed }: EntriesOfLine, left: number): void {
    if (!this.#draft) throw new Error('there is no snapshot before it');
    const { tables, revision, checksum, confirmedAt } = this.#draft;
    tables.put(packed ? unpack(packed) : entries);
    if (left > 0) return;
    this.#draft = undefined;
    this.stored = { tables: tables.finish(revision, checksum), confirmedAt };
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
