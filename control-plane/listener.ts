/** Hears what others notify of (`LISTEN`), over one connection that is made again when it is lost. */
import { Client } from 'pg';

const RECONNECT_MS = 500;
/** A server that takes the connection and says nothing counts as away, in ms. */
const CONNECT_WITHIN_MS = 3_000;

export interface ListenerOptions {
  databaseUrl: string;
  channels: readonly string[];
  onNotice(channel: string, payload: string): void;
  /** Listening again after a loss: what was notified meanwhile was not heard. */
  onReturn?(): void;
  onTrouble?(error: unknown): void;
}

/** Never holds more than one connection, however often it is lost or refused. */
export class Listener {
  readonly #options: ListenerOptions;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  private constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Resolves when it listens. Throws when the first connection is not made. */
  static async start(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options);
    await listener.#connect();
    return listener;
  }

  /** Never rejects. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const { databaseUrl, channels, onNotice, onTrouble } = this.#options;
    const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_WITHIN_MS });
    // A connection that fails before it listens ends both with an error and with `end`: only one of them may
    // lead to the next attempt.
    let listening = false;
    client.on('notification', ({ channel, payload }) => onNotice(channel, payload ?? ''));
    client.on('error', (error) => onTrouble?.(error));
    client.on('end', () => {
      if (listening) this.#reconnect();
      listening = false;
    });
    this.#client = client;
    try {
      await client.connect();
      for (const channel of channels) await client.query(`listen ${channel}`);
      listening = true;
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
  }

  #reconnect(): void {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#connect().then(
        () => this.#options.onReturn?.(),
        (error: unknown) => {
          this.#options.onTrouble?.(error);
          this.#reconnect();
        },
      );
    }, RECONNECT_MS);
  }
}
