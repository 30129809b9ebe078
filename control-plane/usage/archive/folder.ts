/** Archived files in a folder of this machine or of a network file system. */
import { randomBytes } from 'node:crypto';
import { access, constants, link, open, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { FileExists } from './target.ts';
import type { ArchiveTarget, ArchiveUpload } from './target.ts';

/** File systems without hard links answer with one of these. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** A folder. Unfinished files begin with a dot and have another ending, so that no reader takes them. */
export class ArchiveFolder implements ArchiveTarget {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  locate(name: string): string {
    return path.join(this.#folder, name);
  }

  async check(): Promise<void> {
    try {
      await access(this.#folder, constants.W_OK | constants.X_OK);
    } catch (cause) {
      const advice = 'Create it, mount it, and let this process write there.';
      throw new Error(`The folder ${this.#folder} of USAGE_ARCHIVE cannot be used. ${advice}`, { cause });
    }
  }

  async sizeOf(name: string): Promise<number | undefined> {
    try {
      return (await stat(this.locate(name))).size;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async read(name: string, { start, end }: { start: number; end: number }): Promise<Uint8Array> {
    const file = await open(this.locate(name), 'r');
    try {
      const bytes = Buffer.alloc(end - start);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
        if (bytesRead === 0) throw new Error(`${this.locate(name)} is shorter than ${end} bytes.`);
        filled += bytesRead;
      }
      return bytes;
    } finally {
      await file.close();
    }
  }

  begin(): Promise<string> {
    return Promise.resolve(randomBytes(8).toString('hex'));
  }

  open(name: string, upload: string): ArchiveUpload {
    return new FolderUpload(this.locate(name), this.#draftOf(name, upload));
  }

  async discard(name: string, upload: string): Promise<void> {
    await rm(this.#draftOf(name, upload), { force: true });
  }

  async close(): Promise<void> {}

  #draftOf(name: string, upload: string): string {
    return path.join(this.#folder, `.${name}.${upload}.part`);
  }
}

class FolderUpload implements ArchiveUpload {
  readonly #final: string;
  readonly #draft: string;
  #file: FileHandle | undefined;

  constructor(final: string, draft: string) {
    this.#final = final;
    this.#draft = draft;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      this.#file ??= await open(this.#draft, 'wx', 0o640);
      await this.#file.writeFile(bytes);
    } catch (error) {
      throw withAdvice(error, this.#final);
    }
  }

  async finish(): Promise<void> {
    try {
      await this.#file?.sync();
      await this.close();
      await publish(this.#draft, this.#final);
      await syncFolder(path.dirname(this.#final));
    } catch (error) {
      throw withAdvice(error, this.#final);
    }
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

/** Gives the finished draft its name. A link fails if the name is taken, where a rename would replace it. */
async function publish(draft: string, final: string): Promise<void> {
  try {
    await link(draft, final);
    await rm(draft);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new FileExists(final);
    if (!NO_LINKS.has(codeOf(error))) throw error;
    if (await exists(final)) throw new FileExists(final);
    await rename(draft, final);
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

/** Makes a new name durable. Some network file systems refuse it; their server does it itself. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } catch (error) {
    if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw error;
  } finally {
    await handle.close();
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function withAdvice(error: unknown, file: string): unknown {
  const code = codeOf(error);
  if (typeof code !== 'string') return error;
  const advice =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'Free disk space. The partition is kept, and the file is written again.'
      : 'The partition is kept, and the file is written again.';
  return new Error(`${file} cannot be written (${code}). ${advice}`, { cause: error });
}
