/** A disk that does not answer, for tests: as one behind a network, or one that dies. */
import { realDisk } from '../disk.ts';
import type { Disk } from '../disk.ts';

/** The real disk, on which one kind of call returns only when it is told to go on; and then does its work. */
export class HangingDisk implements Disk {
  /** What hangs from now on. */
  hangs: 'append' | 'cut' | undefined;
  /** Writes fail at once. */
  fails = false;
  /** Files that were made. */
  created = 0;
  #waiting: (() => void)[] = [];

  /** Calls that hang. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Lets all that hangs return, and hangs no more. */
  goOn(): void {
    this.hangs = undefined;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  create: Disk['create'] = async (path) => {
    this.created += 1;
    const file = await realDisk.create(path);
    return {
      append: async (bytes) => {
        await this.#pass('append');
        if (this.fails) throw new Error('EIO');
        await file.append(bytes);
      },
      cut: async (length) => {
        await this.#pass('cut');
        await file.cut(length);
      },
      close: () => file.close(),
    };
  };
  makeFolder = realDisk.makeFolder;
  list = realDisk.list;
  read = realDisk.read;
  size = realDisk.size;
  syncFile = realDisk.syncFile;
  rename = realDisk.rename;
  remove = realDisk.remove;
  syncFolder = realDisk.syncFolder;

  async #pass(call: 'append' | 'cut'): Promise<void> {
    if (this.hangs === call) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
