/** A disk for tests whose calls can hang, like a network disk or a dying one. */
import { realDisk } from '../../data-plane/ledger/disk.ts';
import type { Disk } from '../../data-plane/ledger/disk.ts';

/** The real disk, except that calls of one kind wait until `resume` and then do their work. */
export class HangingDisk implements Disk {
  /** The kind of call that hangs from now on. */
  hangs: 'append' | 'truncate' | undefined;
  /** Whether writes fail. */
  fails = false;
  /** Number of created files. */
  created = 0;
  #waiting: (() => void)[] = [];

  /** Number of calls that hang now. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Lets all hanging calls continue; no further call hangs. */
  resume(): void {
    this.hangs = undefined;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  create: Disk['create'] = async (path) => {
    this.created += 1;
    const file = await realDisk.create(path);
    return {
      append: async (bytes) => {
        await this.#hangIfAsked('append');
        if (this.fails) throw new Error('EIO');
        await file.append(bytes);
      },
      truncate: async (length) => {
        await this.#hangIfAsked('truncate');
        await file.truncate(length);
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

  async #hangIfAsked(call: 'append' | 'truncate'): Promise<void> {
    if (this.hangs === call) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
