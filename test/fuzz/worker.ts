/**
 * The thread that fuzzes one target: it changes inputs of the corpus at random, and keeps each input that
 * reaches new code. Another thread watches it, because an endless loop cannot stop itself.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Corpus } from './corpus.ts';
import { Coverage, instrumentImports, literals } from './coverage.ts';
import { crashOf } from './crash.ts';
import type { Crash } from './crash.ts';
import type { HuntOptions, Progress, WorkerMessage } from './hunt.ts';
import { minimise } from './minimise.ts';
import { INPUT_BYTES, mutate } from './mutate.ts';
import { Random } from './random.ts';
import type { FuzzTarget } from './target.ts';
import { RunningInput } from './running-input.ts';

const PROGRESS_MS = 5_000;
/** Different crashes after which a run ends. */
const CRASHES = 20;

const options = workerData as HuntOptions & { running: SharedArrayBuffer };
const { loadTarget } = await import('./target.ts');
instrumentImports();
const target = await loadTarget(options.target);

/** One run. */
class Fuzzer {
  readonly #target: FuzzTarget;
  readonly #coverage = new Coverage();
  readonly #corpus = new Corpus();
  readonly #random = new Random(options.seed);
  readonly #running = new RunningInput(options.running);
  readonly #crashes = new Map<string, Crash>();
  readonly #startedAt = performance.now();
  #inputs = 0;
  #slowestMs = 0;

  constructor(target: FuzzTarget) {
    this.#target = target;
  }

  async run(): Promise<void> {
    const recorded = options.recorded ? (target.recorded?.() ?? []) : [];
    const seeds = [...target.seeds, ...recorded].map((seed) => Buffer.from(seed));
    for (const seed of seeds) if (seed.length <= INPUT_BYTES) await this.#try(seed);
    if (this.#corpus.size === 0) this.#corpus.add(Buffer.from('a'));
    const material = {
      random: this.#random,
      tokens: [...(target.tokens ?? []), ...literals],
      other: () => this.#corpus.choose(this.#random),
    };
    let reportAt = PROGRESS_MS;
    while (!this.#isOver()) {
      await this.#try(mutate(this.#corpus.choose(this.#random), material));
      if ((this.#inputs & 0xff) !== 0 || this.#elapsedMs() < reportAt) continue;
      this.#post('progress');
      reportAt += PROGRESS_MS;
    }
    this.#post('done');
  }

  #isOver(): boolean {
    if (this.#crashes.size >= CRASHES) return true;
    if (options.inputs !== undefined) return this.#inputs >= options.inputs;
    return (this.#inputs & 0x0f) === 0 && this.#elapsedMs() >= options.milliseconds;
  }

  async #try(input: Buffer): Promise<void> {
    this.#running.begin(input);
    this.#coverage.clear();
    const before = performance.now();
    const crash = await crashOf(this.#target, input);
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - before);
    this.#inputs += 1;
    if (crash) await this.#keep(crash);
    else if (this.#coverage.note()) this.#corpus.add(input);
  }

  async #keep({ input, signature, text }: Crash): Promise<void> {
    if (this.#crashes.has(signature)) return;
    const smallest = await minimise(Buffer.from(input), async (shorter) => {
      this.#running.begin(shorter);
      return (await crashOf(this.#target, shorter))?.signature === signature;
    });
    const crash = { input: smallest, signature, text };
    this.#crashes.set(signature, crash);
    this.#send({ type: 'crash', crash });
  }

  #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  #post(type: 'progress' | 'done'): void {
    const progress: Progress = {
      inputs: this.#inputs,
      seconds: this.#elapsedMs() / 1000,
      reached: this.#coverage.reached,
      counters: this.#coverage.size,
      corpus: this.#corpus.size,
      slowestMs: this.#slowestMs,
    };
    this.#send({ type, progress });
  }

  #send(message: WorkerMessage): void {
    parentPort?.postMessage(message);
  }
}

await new Fuzzer(target).run();
