/** The lines of the file of the configuration: `crc32 json`. */
import { Buffer } from 'node:buffer';
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { ConfigEntry } from '@gateway/shared/node-api';
import { RELEASE } from '@gateway/shared/release';
import type { TableChange } from './tables.ts';

/** Bytes that are read at once. Requests are served between two reads. */
const READ_BYTES = 1 << 20;
const NEWLINE = 10;
/** Hexadecimal digits of the checksum before the blank. */
const CRC_DIGITS = 8;

/** Entries of a snapshot. */
export interface EntriesOfLine {
  entries: ConfigEntry[];
  /** The entries, compressed (packed-entries.ts), instead of `entries`. Absent in earlier releases. */
  packed?: string | null | undefined;
}

/** A line of the file. `left` is the number of snapshot entries, or of lines, that follow. */
export type Line =
  | (EntriesOfLine & {
      type: 'snapshot';
      revision: number;
      checksum: string;
      /** Absent in files of the earliest releases, whose snapshot is one line. */
      left?: number;
      confirmedAt: number;
      /** Absent in files of earlier releases. */
      release?: string;
    })
  | (EntriesOfLine & { type: 'entries'; left: number })
  | { type: 'delta'; change: TableChange; confirmedAt: number }
  | { type: 'confirmed'; confirmedAt: number };

/** The part of the first line of a snapshot that is about all lines. */
export interface SnapshotHead {
  revision: number;
  checksum: string;
  confirmedAt: number;
}

/** A line of a snapshot, the first one with its head. */
export function snapshotLine(part: EntriesOfLine, left: number, head: SnapshotHead | undefined): Line {
  if (!head) return { type: 'entries', ...part, left };
  const { revision, checksum, confirmedAt } = head;
  return { type: 'snapshot', revision, checksum, ...part, left, confirmedAt, release: RELEASE };
}

/** The bytes of a line. */
export function encode(line: Line): Buffer {
  const json = JSON.stringify(line);
  return Buffer.from(`${crc32(json).toString(16).padStart(CRC_DIGITS, '0')} ${json}\n`);
}

/** Reads the bytes of a line without its end. Throws if they do not have the checksum at their start. */
export function decode(line: Buffer): Line {
  const json = line.subarray(CRC_DIGITS + 1);
  if (Number.parseInt(line.toString('latin1', 0, CRC_DIGITS), 16) !== crc32(json))
    throw new Error('the checksum does not match');
  return JSON.parse(json.toString()) as Line;
}

/** The complete lines of a file, without their ends. A file may be longer than the longest string. */
export async function* linesIn(file: FileHandle): AsyncGenerator<Buffer, undefined> {
  const buffer = Buffer.alloc(READ_BYTES);
  let begun: Buffer[] = [];
  for (;;) {
    const { bytesRead } = await file.read({ buffer });
    if (bytesRead === 0) return undefined;
    let from = 0;
    for (
      let end = buffer.indexOf(NEWLINE);
      end !== -1 && end < bytesRead;
      end = buffer.indexOf(NEWLINE, from)
    ) {
      yield Buffer.concat([...begun, buffer.subarray(from, end)]);
      begun = [];
      from = end + 1;
    }
    begun.push(Buffer.from(buffer.subarray(from, bytesRead)));
  }
}
