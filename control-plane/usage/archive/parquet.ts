/** Writes and reads back the Parquet files of the archive, one row group at a time. */
import { createHash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetRead } from 'hyparquet';
import type { ColumnData, FileMetaData, RowGroup } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { ARCHIVE_COLUMNS, ARCHIVE_SCHEMA } from './columns.ts';
import type { ArchiveValue } from './columns.ts';

/** Level of Zstandard; higher ones take much longer and save little. */
const ZSTD_LEVEL = 3;
/** Largest row group and largest footer that are read, in bytes. */
const PIECE_BYTES_MAX = 256 * 1024 * 1024;
/** `PAR1` and the length of the footer before it. */
const TAIL_BYTES = 8;
/** The version of the schema. A release that changes the columns counts it up. */
const SCHEMA_VERSION = '1';

/** A file being written. Its bytes depend only on the rows, so that a repetition gives the same file. */
export class ParquetFile {
  readonly #bytes = new ByteWriter();
  readonly #parquet: ParquetWriter;
  readonly #write: (bytes: Uint8Array) => Promise<void>;

  /** `write` receives the bytes of the file in order. */
  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.#write = write;
    this.#parquet = new ParquetWriter({
      writer: this.#bytes,
      schema: ARCHIVE_SCHEMA,
      codec: 'ZSTD',
      compressors: { ZSTD: compress },
      kvMetadata: [{ key: 'gateway.usage.schema', value: SCHEMA_VERSION }],
      createdBy: `gateway version ${SCHEMA_VERSION}.0.0 (build usage-archive)`,
    });
  }

  /** Writes a row group with these rows by column. */
  async add(columns: readonly ArchiveValue[][]): Promise<void> {
    const rowGroupSize = columns[0]?.length ?? 0;
    const columnData = ARCHIVE_COLUMNS.map(({ name }, at) => ({
      ...{ name, data: columns[at] ?? [], offsetIndex: false },
    }));
    await this.#parquet.write({ columnData, rowGroupSize });
    await this.#flush();
  }

  /** Writes the end of the file. */
  async finish(): Promise<void> {
    await this.#parquet.finish();
    await this.#flush();
  }

  async #flush(): Promise<void> {
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    await this.#write(bytes);
  }
}

function compress(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } });
}

function decompress(bytes: Uint8Array, maxOutputLength: number): Uint8Array {
  return zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, maxOutputLength) });
}

/** A finished file at its target. */
export interface StoredFile {
  size: number;
  /** The bytes from `start` to before `end`. */
  read(range: { start: number; end: number }): Promise<Uint8Array>;
}

/**
 * Reads a file once from its beginning to its end, passes each row group to `check`, and returns the SHA-256
 * of all bytes. Rejects if the file is not one of this schema.
 */
export async function readBack(
  file: StoredFile,
  check: (columns: readonly ArchiveValue[][]) => Promise<void>,
): Promise<string> {
  const metadata = await footerOf(file);
  const hash = createHash('sha256');
  let position = 0;
  let firstRow = 0;
  for (const group of metadata.row_groups) {
    const end = endOf(group);
    const bytes = await readPiece(file, { start: position, end });
    hash.update(bytes);
    const rowEnd = firstRow + Number(group.num_rows);
    await check(await decode(metadata, { bytes, start: position, rowStart: firstRow, rowEnd }));
    position = end;
    firstRow = rowEnd;
  }
  hash.update(await readPiece(file, { start: position, end: file.size }));
  return hash.digest('hex');
}

async function footerOf(file: StoredFile): Promise<FileMetaData> {
  if (file.size < TAIL_BYTES) throw new Error('the file is too short');
  const tail = await file.read({ start: file.size - TAIL_BYTES, end: file.size });
  const length = Buffer.from(tail).readUInt32LE(0) + TAIL_BYTES;
  const footer = await readPiece(file, { start: file.size - length, end: file.size });
  const metadata = parquetMetadata(footer);
  const [, ...fields] = metadata.schema;
  const isOurs =
    fields.length === ARCHIVE_COLUMNS.length &&
    ARCHIVE_SCHEMA.slice(1).every(
      ({ name, type, repetition_type: repetition }, at) =>
        fields[at]?.name === name && fields[at].type === type && fields[at].repetition_type === repetition,
    );
  if (!isOurs) throw new Error('the file has other columns');
  return metadata;
}

async function readPiece(file: StoredFile, range: { start: number; end: number }): Promise<Uint8Array> {
  const { start, end } = range;
  if (start < 0 || end < start || end > file.size || end - start > PIECE_BYTES_MAX)
    throw new Error('the file is damaged');
  return file.read(range);
}

/** Position after the last byte of a row group. Column chunks follow each other without gaps. */
function endOf({ columns }: RowGroup): number {
  const ends = columns.map(({ meta_data: chunk }) => {
    if (!chunk) throw new Error('the file is damaged');
    return Number((chunk.dictionary_page_offset ?? chunk.data_page_offset) + chunk.total_compressed_size);
  });
  return Math.max(...ends);
}

interface Piece {
  bytes: Uint8Array;
  /** Position of the first byte in the file. */
  start: number;
  rowStart: number;
  rowEnd: number;
}

async function decode(
  metadata: FileMetaData,
  { bytes, start, rowStart, rowEnd }: Piece,
): Promise<ArchiveValue[][]> {
  const found = new Map<string, ArchiveValue[]>();
  const copy = new Uint8Array(bytes).buffer;
  await parquetRead({
    metadata,
    file: {
      byteLength: start + bytes.length,
      slice: (from, to) => copy.slice(from - start, to === undefined ? undefined : to - start),
    },
    ...{ rowStart, rowEnd, compressors: { ZSTD: decompress } },
    parsers: { timestampFromMicroseconds: (micros: bigint) => micros },
    onChunk: ({ columnName, columnData }: ColumnData) => {
      const values = found.get(columnName) ?? [];
      for (const value of columnData) values.push((value as ArchiveValue | undefined) ?? null);
      found.set(columnName, values);
    },
  });
  return ARCHIVE_COLUMNS.map(({ name }) => found.get(name) ?? []);
}
