/**
 * Receives PostgreSQL notifications (LISTEN) over one connection, and reconnects when the connection is lost.
 */
import { Client } from 'pg';

const RECONNECT_MS = 500;
/** Timeout of one connection attempt. */
const CONNECT_WITHIN_MS = 3_000;

interface ListenerOptions {
  databaseUrl: string;
  channels: readonly string[];
  onNotification(channel: string, payload: string): void;
  /** Called when it listens again after a loss. Notifications of that time are lost. */
  onReconnect?(): void;
  /** Called with connection errors, after which it reconnects. */
  onTrouble?(error: unknown): void;
}

/** Holds at most one connection at a time. */
export class Listener {
  readonly #options: ListenerOptions;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  private constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Resolves when it listens. Rejects if the first connection fails. */
  static async start(options: ListenerOptions): Promise<Listener> {
    const listener = new Listener(options);
    await listener.#connect();
    return listener;
  }

  /** Closes the connection. Never rejects. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const { databaseUrl, channels, onNotification, onTrouble } = this.#options;
    const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: CONNECT_WITHIN_MS });
    // A connection that fails before LISTEN emits both `error` and `end`; only the error below may reconnect.
    let listening = false;
    client.on('notification', ({ channel, payload }) => onNotification(channel, payload ?? ''));
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
        () => this.#options.onReconnect?.(),
        (error: unknown) => {
          this.#options.onTrouble?.(error);
          this.#reconnect();
        },
      );
    }, RECONNECT_MS);
  }
}
