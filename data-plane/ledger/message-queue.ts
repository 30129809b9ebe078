/**
 * Limits how many messages a node sends to the control plane at once. When the control plane goes away or
 * comes back, messages of all wallets fall due together; without a limit they would overload both planes.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Number of queued messages that are searched for one with a waiting client. */
const SCAN_MAX = 1_000;
/** Back-off after a failed message before its slot is reused, in ms. */
const BACKOFF_MS = 100;

/** A message to the control plane. */
interface QueuedMessage {
  /** Whether a client waits for the result. Such messages are sent first. */
  hasWaitingClient(): boolean;
  /** Sends the message once. Resolves with whether it succeeded; never rejects. */
  send(): Promise<boolean>;
}

/** Sends messages in the order in which they came, those with a waiting client first. */
export class MessageQueue {
  readonly #concurrency: number;
  readonly #waiting = new Set<QueuedMessage>();
  #active = 0;
  #stopped = false;

  /** `concurrency`: maximum number of messages under way. */
  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Queues a message; it is sent as soon as a slot is free. */
  add(message: QueuedMessage): void {
    this.#waiting.add(message);
    if (this.#active < this.#concurrency) void this.#work();
  }

  /** Sends none of the messages that are still queued. */
  stop(): void {
    this.#stopped = true;
  }

  async #work(): Promise<void> {
    this.#active += 1;
    for (let next = this.#next(); next && !this.#stopped; next = this.#next()) {
      this.#waiting.delete(next);
      if (!(await next.send())) await sleep(BACKOFF_MS, undefined, { ref: false });
    }
    this.#active -= 1;
  }

  #next(): QueuedMessage | undefined {
    let first: QueuedMessage | undefined;
    let scanned = 0;
    for (const message of this.#waiting) {
      if (message.hasWaitingClient()) return message;
      first ??= message;
      scanned += 1;
      if (scanned === SCAN_MAX) break;
    }
    return first;
  }
}
