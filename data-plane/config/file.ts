/**
 * The file of the last good configuration, with which a node can start while the control plane is away. Each
 * line is `crc32 json`: first a snapshot in parts, then the deltas and confirmations since. The file is
 * rewritten when the lines after the snapshot are as long as the snapshot.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ConfigEntry } from '@gateway/shared/node-api';
import { RELEASE } from '@gateway/shared/release';
import { NO_TABLES, TablesDraft, changed, entriesOf } from './tables.ts';
import type { TableChange, Tables } from './tables.ts';

/** The file is not rewritten before this many bytes were added to its snapshot. */
const ADDED_BYTES_MIN = 1 << 20;
/** Maximum entries per line of a snapshot: requests are served between two lines. */
const LINE_ENTRIES = 1_000;
const OWNER_ONLY = 0o600;

/** A line of the file. `left` is the number of snapshot entries in the lines that follow. */
type Line =
  | {
      type: 'snapshot';
      revision: number;
      checksum: string;
      entries: ConfigEntry[];
      left?: number;
      confirmedAt: number;
      /** Absent in files of earlier releases. */
      release?: string;
    }
  | { type: 'entries'; entries: ConfigEntry[]; left: number }
  | { type: 'delta'; change: TableChange; confirmedAt: number }
  | { type: 'confirmed'; confirmedAt: number };

/** Content of the file: the tables, and when the control plane last confirmed them (ms of the wall clock). */
export interface StoredConfig {
  tables: Tables;
  confirmedAt: number;
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
  #snapshotBytes = 0;
  /** Infinity while the file may be damaged; the next write then replaces it. */
  #addedBytes = Infinity;

  constructor(path: string) {
    this.#path = path;
  }

  /** Reads the file; undefined if there is none. Throws DamagedConfigFile, or the error of the disk. */
  async load(): Promise<LoadedConfig | undefined> {
    let content: string;
    try {
      content = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return replay(this.#path, content);
  }

  /** Replaces the file durably: writes and syncs a temporary file, renames it and syncs the folder. */
  async writeSnapshot(stored: StoredConfig): Promise<void> {
    const next = `${this.#path}.tmp`;
    const file = await open(next, 'w', OWNER_ONLY);
    let bytes = 0;
    try {
      await file.chmod(OWNER_ONLY);
      for (const line of snapshotLines(stored)) bytes += (await file.write(encode(line))).bytesWritten;
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, this.#path);
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

  async #append(lines: readonly Line[], stored: StoredConfig): Promise<void> {
    if (this.#addedBytes >= Math.max(ADDED_BYTES_MIN, this.#snapshotBytes)) return this.writeSnapshot(stored);
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

function* snapshotLines({ tables, confirmedAt }: StoredConfig): Generator<Line, undefined> {
  const { revision, checksum } = tables;
  let left = 0;
  for (const table of tables.byKind.values()) left += table.size;
  let isFirst = true;
  for (const entries of parts(entriesOf(tables))) {
    left -= entries.length;
    if (isFirst) yield { type: 'snapshot', revision, checksum, entries, left, confirmedAt, release: RELEASE };
    else yield { type: 'entries', entries, left };
    isFirst = false;
  }
  return undefined;
}

/** Splits entries into lists of at most `LINE_ENTRIES`. Yields at least one list. */
function* parts(all: Iterable<ConfigEntry>): Generator<ConfigEntry[], undefined> {
  let part: ConfigEntry[] = [];
  for (const entry of all) {
    if (part.length === LINE_ENTRIES) {
      yield part;
      part = [];
    }
    part.push(entry);
  }
  yield part;
  return undefined;
}

function encode(line: Line): Buffer {
  const json = JSON.stringify(line);
  return Buffer.from(`${crc32(json).toString(16).padStart(8, '0')} ${json}\n`);
}

/** An incomplete last line was never acknowledged and is ignored; any other error is damage. */
function replay(path: string, content: string): LoadedConfig | undefined {
  const lines = content.split('\n');
  lines.pop();
  const reader = new Reader();
  for (const [at, text] of lines.entries()) {
    try {
      reader.take(decode(text));
    } catch (cause) {
      throw new DamagedConfigFile(path, at + 1, cause);
    }
  }
  if (!reader.stored && content !== '') throw new DamagedConfigFile(path, lines.length + 1, undefined);
  return reader.stored && { ...reader.stored, isOwn: reader.isOwn };
}

function decode(text: string): Line {
  const json = text.slice(9);
  if (Number.parseInt(text.slice(0, 8), 16) !== crc32(json)) throw new Error('the checksum does not match');
  return JSON.parse(json) as Line;
}

/** Replays the lines in order. */
class Reader {
  stored: StoredConfig | undefined;
  isOwn = false;
  #draft: { tables: TablesDraft; revision: number; checksum: string; confirmedAt: number } | undefined;

  /** Throws if the line does not fit the lines before it. */
  take(line: Line): void {
    if (line.type === 'snapshot') {
      const { revision, checksum, confirmedAt, release } = line;
      this.isOwn = release === RELEASE;
      this.#draft = { tables: new TablesDraft(NO_TABLES), revision, checksum, confirmedAt };
      // Earlier releases wrote a snapshot as one line without `left`.
      this.#fill(line.entries, line.left ?? 0);
    } else if (line.type === 'entries') {
      this.#fill(line.entries, line.left);
    } else {
      const { confirmedAt } = line;
      if (!this.stored || this.#draft) throw new Error('there is no complete snapshot before it');
      const { tables } = this.stored;
      this.stored = { tables: line.type === 'delta' ? changed(tables, line.change) : tables, confirmedAt };
    }
  }

  #fill(entries: readonly ConfigEntry[], left: number): void {
    if (!this.#draft) throw new Error('there is no snapshot before it');
    const { tables, revision, checksum, confirmedAt } = this.#draft;
    tables.put(entries);
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
