/** The input that a thread runs at the moment, in memory that the watching thread can read. */
import { INPUT_BYTES } from './mutate.ts';

const HEADER_BYTES = 8;

export class RunningInput {
  readonly #head: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(memory: SharedArrayBuffer) {
    this.#head = new Int32Array(memory, 0, 2);
    this.#bytes = new Uint8Array(memory, HEADER_BYTES);
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(HEADER_BYTES + INPUT_BYTES);
  }

  begin(input: Uint8Array): void {
    this.#bytes.set(input.subarray(0, INPUT_BYTES));
    Atomics.store(this.#head, 1, Math.min(input.length, INPUT_BYTES));
    Atomics.add(this.#head, 0, 1);
  }

  /** Counts the inputs. */
  get count(): number {
    return Atomics.load(this.#head, 0);
  }

  get input(): Buffer {
    return Buffer.from(this.#bytes.slice(0, Atomics.load(this.#head, 1)));
  }
}
