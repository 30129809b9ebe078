/** Sends the acknowledgements of a node one at a time. */
import type { Control } from '../control/client.ts';

/** A revision that was applied, or refused with `error`. */
export interface Acknowledgement {
  revision: number;
  checksum: string;
  error?: string;
}

interface AcknowledgementsOptions {
  send(ack: Acknowledgement): ReturnType<Control['acknowledge']>;
  /** Called if an acknowledgement was refused or got no answer. */
  onTrouble(ack: Acknowledgement, reason: string): void;
}

/** The acknowledgements that wait, and the one that is being sent. */
export class Acknowledgements {
  readonly #options: AcknowledgementsOptions;
  #waiting: Acknowledgement[] = [];
  #sending: Promise<void> | undefined;
  /** The last applied revision whose acknowledgement was accepted; 0 after a refusal. */
  accepted = 0;

  constructor(options: AcknowledgementsOptions) {
    this.#options = options;
  }

  /** Whether an acknowledgement is being sent. */
  get isSending(): boolean {
    return this.#sending !== undefined;
  }

  /**
   * Sends the acknowledgement after the one that is being sent. Of several waiting revisions only the last is
   * sent.
   */
  add(ack: Acknowledgement): void {
    if (ack.error === undefined) this.#waiting = this.#waiting.filter(({ error }) => error !== undefined);
    this.#waiting.push(ack);
    this.#sending ??= this.#sendAll();
  }

  /** Resolves when nothing waits. Never rejects. */
  async settled(): Promise<void> {
    while (this.#sending) await this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (let ack = this.#waiting.shift(); ack; ack = this.#waiting.shift()) {
      this.accepted = 0;
      try {
        const { ok, userErrors } = await this.#options.send(ack);
        if (!ok) this.#options.onTrouble(ack, JSON.stringify(userErrors));
        else if (ack.error === undefined) this.accepted = ack.revision;
      } catch (error) {
        this.#options.onTrouble(ack, error instanceof Error ? error.message : String(error));
      }
    }
    this.#sending = undefined;
  }
}
