/**
 * The last configuration that was good, on disk, so that a node starts while the control plane is away. Lines
 * of `crc32 json`: first a snapshot in parts, then the deltas and confirmations since. Rewritten when these
 * are as long as the snapshot was.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ConfigEntry } from '@gateway/shared/node-api';
import { NO_TABLES, TablesDraft, changed, entriesOf } from './tables.ts';
import type { TableChange, Tables } from './tables.ts';

/** A short file is not written anew before this much was added to its snapshot, in bytes. */
const ADDED_BYTES_MIN = 1 << 20;
/** Entries of one line of a snapshot: requests are answered between two lines. */
const LINE_ENTRIES = 1_000;
const OWNER_ONLY = 0o600;

/** A snapshot ends with the line that brings its last entries; `left` counts those of the lines behind. */
type Line =
  | {
      type: 'snapshot';
      revision: number;
      checksum: string;
      entries: ConfigEntry[];
      left?: number;
      confirmedAt: number;
    }
  | { type: 'entries'; entries: ConfigEntry[]; left: number }
  | { type: 'delta'; change: TableChange; confirmedAt: number }
  | { type: 'confirmed'; confirmedAt: number };

/** What the file holds: the tables, and when the control plane last confirmed them (ms of the wall clock). */
export interface KeptConfig {
  tables: Tables;
  confirmedAt: number;
}

/** The content of the file is not what was written. The message names the file and the line. */
export class DamagedConfigFile extends Error {
  constructor(path: string, line: number, cause: unknown) {
    super(
      `${path} is damaged at line ${line}; it is ignored until the control plane sends the configuration`,
      { cause },
    );
    this.name = 'DamagedConfigFile';
  }
}

/** The file at one path. Its writes come one after another; the caller sees to that. */
export class ConfigFile {
  readonly #path: string;
  #snapshotBytes = 0;
  /** Infinite until the file is known to be whole: then the next write starts a new one. */
  #addedBytes = Infinity;

  constructor(path: string) {
    this.#path = path;
  }

  /** What was kept, or undefined when there is no file yet. Throws DamagedConfigFile. */
  async load(): Promise<KeptConfig | undefined> {
    let content: string;
    try {
      content = await readFile(this.#path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return replay(this.#path, content);
  }

  /** Replaces the file: written beside it in parts, synced, renamed, folder synced. */
  async writeSnapshot(kept: KeptConfig): Promise<void> {
    const next = `${this.#path}.tmp`;
    const file = await open(next, 'w', OWNER_ONLY);
    let bytes = 0;
    try {
      await file.chmod(OWNER_ONLY);
      for (const line of snapshotLines(kept)) bytes += (await file.write(encode(line))).bytesWritten;
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, this.#path);
    await syncFolder(dirname(this.#path));
    this.#snapshotBytes = bytes;
    this.#addedBytes = 0;
  }

  /** Adds one change durably; `kept` is the state with it, in case the file must be written anew. */
  async writeDelta(change: TableChange, kept: KeptConfig): Promise<void> {
    await this.#append({ type: 'delta', change, confirmedAt: kept.confirmedAt }, kept);
  }

  /** Remembers that the tables were confirmed. */
  async writeConfirmed(kept: KeptConfig): Promise<void> {
    await this.#append({ type: 'confirmed', confirmedAt: kept.confirmedAt }, kept);
  }

  async #append(line: Line, kept: KeptConfig): Promise<void> {
    if (this.#addedBytes >= Math.max(ADDED_BYTES_MIN, this.#snapshotBytes)) return this.writeSnapshot(kept);
    const bytes = encode(line);
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

function* snapshotLines({ tables, confirmedAt }: KeptConfig): Generator<Line, undefined> {
  const { revision, checksum } = tables;
  let left = 0;
  for (const table of tables.byKind.values()) left += table.size;
  let isFirst = true;
  for (const entries of parts(entriesOf(tables))) {
    left -= entries.length;
    if (isFirst) yield { type: 'snapshot', revision, checksum, entries, left, confirmedAt };
    else yield { type: 'entries', entries, left };
    isFirst = false;
  }
  return undefined;
}

/** Lists of at most `LINE_ENTRIES`; at least one. */
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

/**
 * A cut last line was never acknowledged to anybody and is left out; anything else that is wrong is damage.
 */
function replay(path: string, content: string): KeptConfig | undefined {
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
  if (!reader.kept && content !== '') throw new DamagedConfigFile(path, lines.length + 1, undefined);
  return reader.kept;
}

function decode(text: string): Line {
  const json = text.slice(9);
  if (Number.parseInt(text.slice(0, 8), 16) !== crc32(json)) throw new Error('the checksum does not match');
  return JSON.parse(json) as Line;
}

/** Follows the lines in order. */
class Reader {
  kept: KeptConfig | undefined;
  #draft: { tables: TablesDraft; revision: number; checksum: string; confirmedAt: number } | undefined;

  /** Throws where the line does not fit to those before it. */
  take(line: Line): void {
    if (line.type === 'snapshot') {
      const { revision, checksum, confirmedAt } = line;
      this.#draft = { tables: new TablesDraft(NO_TABLES), revision, checksum, confirmedAt };
      // Nodes of an earlier release wrote a snapshot as one line, without saying that nothing is left.
      this.#fill(line.entries, line.left ?? 0);
    } else if (line.type === 'entries') {
      this.#fill(line.entries, line.left);
    } else {
      const { confirmedAt } = line;
      if (!this.kept || this.#draft) throw new Error('there is no whole snapshot before it');
      const { tables } = this.kept;
      this.kept = { tables: line.type === 'delta' ? changed(tables, line.change) : tables, confirmedAt };
    }
  }

  #fill(entries: readonly ConfigEntry[], left: number): void {
    if (!this.#draft) throw new Error('there is no snapshot that it belongs to');
    const { tables, revision, checksum, confirmedAt } = this.#draft;
    tables.put(entries);
    if (left > 0) return;
    this.#draft = undefined;
    this.kept = { tables: tables.finish(revision, checksum), confirmedAt };
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
