/** Where archived files are written: the interface of folders and buckets. */

/** A target. Every method rejects with an Error that says what to do if the target cannot be used. */
export interface ArchiveTarget {
  /** Address of a file for people and records. It has no secret. */
  locate(name: string): string;
  /** Resolves if the target can be reached and the credentials are accepted. */
  check(): Promise<void>;
  /** Size of a finished file in bytes; undefined if there is none. */
  sizeOf(name: string): Promise<number | undefined>;
  /** The bytes from `start` to before `end`. Rejects if the file has fewer. */
  read(name: string, range: { start: number; end: number }): Promise<Uint8Array>;
  /** Begins an upload and returns its id. The file does not exist before `finish`. */
  begin(name: string): Promise<string>;
  /** Continues a new upload in this process. */
  open(name: string, upload: string): ArchiveUpload;
  /** Removes what an unfinished upload left. Does nothing for an upload that is finished or unknown. */
  discard(name: string, upload: string): Promise<void>;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** An upload in progress. */
export interface ArchiveUpload {
  /** Resolves when further bytes may be written. */
  write(bytes: Uint8Array): Promise<void>;
  /** Makes the file exist, durable and complete. Never replaces a file: rejects with FileExists. */
  finish(): Promise<void>;
  /** Releases what this process holds for the upload, finished or not. */
  close(): Promise<void>;
}

/** A file of this name exists already. */
export class FileExists extends Error {
  constructor(location: string) {
    super(
      `${location} exists already. Another installation may write there: choose another prefix or folder.`,
    );
  }
}
