/** A worker's link to its supervisor. */
import { setTimeout as pause } from 'node:timers/promises';
import { isSupervisorMessage } from './messages.ts';
import type { ProcessMetrics, WorkerMessage } from './messages.ts';

/** Interval at which a worker reports its condition, in ms. */
const CONDITION_EVERY_MS = 1_000;
/** Time that the supervisor has to collect the metrics of all workers, in ms. */
const SCRAPE_WITHIN_MS = 5_000;

interface LinkOptions {
  /** Whether this worker is ready, apart from the others. */
  isReady(): boolean;
  /** The metrics of this worker. */
  collect(): Promise<ProcessMetrics>;
  onStop(drainMs: number): void;
}

/** Answers the supervisor, and reports to it. Without a supervisor nothing is sent. */
export class SupervisorLink {
  readonly #options: LinkOptions;
  readonly #scrapes = new Map<number, (text: string | null) => void>();
  #lastScrape = 0;
  /** Whether all other workers were ready when the supervisor last said so. */
  othersReady = true;

  constructor(options: LinkOptions) {
    this.#options = options;
    process.on('message', (message) => void this.#receive(message));
    setInterval(() => {
      send({ type: 'condition', ready: options.isReady() });
    }, CONDITION_EVERY_MS).unref();
  }

  /** Reports that this worker accepts connections. */
  ready(port: number, revision: number): void {
    send({ type: 'ready', port, revision });
  }

  /** Reports that this worker begins to stop by itself: then the whole node stops. */
  stopping(): void {
    send({ type: 'stopping' });
  }

  /** The metrics of the whole node in the text format. Throws an Error if the supervisor does not answer. */
  async scrape(): Promise<string> {
    this.#lastScrape += 1;
    const id = this.#lastScrape;
    const answer = new Promise<string | null>((resolve) => {
      this.#scrapes.set(id, resolve);
    });
    send({ type: 'scrape', id });
    const text = await Promise.race([answer, pause(SCRAPE_WITHIN_MS, null, { ref: false })]);
    this.#scrapes.delete(id);
    if (text === null) throw new Error('the supervisor of this node did not collect the metrics in time');
    return text;
  }

  async #receive(message: unknown): Promise<void> {
    if (!isSupervisorMessage(message)) return;
    if (message.type === 'stop') this.#options.onStop(message.drainMs);
    else if (message.type === 'others') this.othersReady = message.ready;
    else if (message.type === 'scraped') this.#scrapes.get(message.id)?.(message.text);
    else send({ type: 'metrics', id: message.id, metrics: await this.#options.collect() });
  }
}

function send(message: WorkerMessage): void {
  if (process.connected) process.send?.(message, () => undefined);
}
