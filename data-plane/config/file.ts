/**
 * The last configuration that was good, on disk, so that a node starts while the control plane is away. Lines
 * of `crc32 json`: first a snapshot, then the deltas and confirmations since. Rewritten when it grew long.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import type { ConfigEntry } from '@gateway/shared/node-api';
import { NO_TABLES, changed, entriesOf } from './tables.ts';
import type { TableChange, Tables } from './tables.ts';

/** Lines after the snapshot before the file is written anew. */
const LINES_MAX = 1_000;
const OWNER_ONLY = 0o600;

type Line =
  | { type: 'snapshot'; revision: number; checksum: string; entries: ConfigEntry[]; confirmedAt: number }
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
  #lines = Infinity;

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

  /** Replaces the file: written beside it, synced, renamed, folder synced. */
  async writeSnapshot({ tables, confirmedAt }: KeptConfig): Promise<void> {
    const { revision, checksum } = tables;
    const next = `${this.#path}.tmp`;
    const file = await open(next, 'w', OWNER_ONLY);
    try {
      await file.chmod(OWNER_ONLY);
      await file.writeFile(
        encode({ type: 'snapshot', revision, checksum, entries: entriesOf(tables), confirmedAt }),
      );
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, this.#path);
    await syncFolder(dirname(this.#path));
    this.#lines = 0;
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
    if (this.#lines >= LINES_MAX) return this.writeSnapshot(kept);
    const written = this.#lines;
    // Until the line is known to be whole, the next write starts a new file.
    this.#lines = Infinity;
    const file = await open(this.#path, 'a', OWNER_ONLY);
    try {
      await file.appendFile(encode(line));
      await file.datasync();
      this.#lines = written + 1;
    } finally {
      await file.close();
    }
  }
}

function encode(line: Line): string {
  const json = JSON.stringify(line);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

/**
 * A cut last line was never acknowledged to anybody and is left out; anything else that is wrong is damage.
 */
function replay(path: string, content: string): KeptConfig | undefined {
  const lines = content.split('\n');
  lines.pop();
  let kept: KeptConfig | undefined;
  for (const [at, text] of lines.entries()) {
    try {
      kept = next(kept, decode(text));
    } catch (cause) {
      throw new DamagedConfigFile(path, at + 1, cause);
    }
  }
  if (!kept && content !== '') throw new DamagedConfigFile(path, 1, undefined);
  return kept;
}

function decode(text: string): Line {
  const json = text.slice(9);
  if (Number.parseInt(text.slice(0, 8), 16) !== crc32(json)) throw new Error('the checksum does not match');
  return JSON.parse(json) as Line;
}

function next(kept: KeptConfig | undefined, line: Line): KeptConfig {
  const { confirmedAt } = line;
  if (line.type === 'snapshot') {
    const { revision, checksum, entries } = line;
    return {
      tables: changed(NO_TABLES, { revision, checksum, upserts: entries, removals: [] }),
      confirmedAt,
    };
  }
  if (!kept) throw new Error('there is no snapshot before it');
  if (line.type === 'delta') return { tables: changed(kept.tables, line.change), confirmedAt };
  return { ...kept, confirmedAt };
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
