/** Keeps the configuration current: follows the control plane, applies, acknowledges or refuses changes. */
import type { ConfigEvent, NodeProcess } from '@gateway/shared/node-api';
import type { Control } from '../control/client.ts';
import type { Log } from '../log.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { confirmedConfig, keysStopped } from './compile.ts';
import type { Compiler } from './compile.ts';
import type { ControlClock } from './control-clock.ts';
import { ConfigWriter } from './config-writer.ts';
import type { ConfigFile, StoredConfig } from './file.ts';
import type { ReceivedLines } from './received-lines.ts';
import { SnapshotParts } from './snapshot-parts.ts';
import type { WholeSnapshot } from './snapshot-parts.ts';
import type { WritableStore } from './store.ts';
import { NO_TABLES, changed } from './tables.ts';
import type { TableChange, Tables } from './tables.ts';

/** A stream without an event for this time is abandoned, in ms. The control plane sends one every 5 s. */
const SILENCE_MS = 20_000;
const RETRY_BASE_MS = 100;
const RETRY_MAX_MS = 5_000;
/** After this many heartbeats with a later revision, its delta counts as lost. */
const LAGGING_HEARTBEATS = 2;

interface FeedOptions {
  control: Pick<Control, 'follow' | 'acknowledge'>;
  compiler: Compiler;
  store: WritableStore;
  file: ConfigFile;
  /** Is set by each heartbeat, and times the confirmations. */
  clock: ControlClock;
  log: Pick<Log, 'info' | 'warn'>;
  /** Called when the control plane recalls a lease. */
  onRecall(leaseId: string): void;
}

/** The configuration feed of a node. */
export interface Feed {
  /** Puts the stored configuration in use if there is a good one. Never rejects. */
  startFromFile(): Promise<void>;
  /** Starts to follow the control plane as this process of this node, until `stop`. */
  follow(self: NodeProcess): void;
  /** Revision in use; 0 if there is none. */
  readonly revision: number;
  /** Whether the stream is open and an event has arrived. */
  readonly connected: boolean;
  /** Stops following; resolves when the file is written. */
  stop(): Promise<void>;
}

/** Creates a feed, which is idle before `startFromFile` or `follow`. */
export function createFeed(options: FeedOptions): Feed {
  return new ConfigFeed(options);
}

/** A state of the configuration. */
interface Revision {
  revision: number;
  checksum: string;
}

class ConfigFeed implements Feed {
  readonly #options: FeedOptions;
  #tables: Tables = NO_TABLES;
  #self: NodeProcess = { nodeId: '', instanceId: '' };
  #unfollow: (() => void) | undefined;
  #retry: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #attempts = 0;
  #parts: SnapshotParts | undefined;
  /** The last refused revision: heartbeats that name it do not mean that a delta was lost. */
  #refused = 0;
  #lagging = 0;
  /**
   * Whether only a snapshot will do, however often the stream ends before: another release wrote the file, or
   * credentials are sealed for other keys.
   */
  #needsSnapshot = false;
  readonly #acks: Acknowledgements;
  readonly #writer: ConfigWriter;
  #stopped = false;
  connected = false;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#acks = new Acknowledgements({
      send: (ack) => options.control.acknowledge({ ...this.#self, ...ack }),
      onTrouble: ({ revision }, reason) =>
        options.log.warn({ revision, reason }, 'an acknowledgement was not accepted'),
    });
    this.#writer = new ConfigWriter({
      file: options.file,
      acks: this.#acks,
      onTrouble: (error) =>
        options.log.warn({ reason: messageOf(error) }, 'the configuration could not be stored'),
    });
  }

  get revision(): number {
    return this.#tables.revision;
  }

  async startFromFile(): Promise<void> {
    const { file, log } = this.#options;
    try {
      const stored = await file.load();
      if (!stored) return;
      this.#use(stored.tables, stored.confirmedAt);
      this.#needsSnapshot = !stored.isOwn;
      log.info({ revision: stored.tables.revision }, 'started with the stored configuration');
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the stored configuration is ignored: it cannot be used');
    }
  }

  follow(self: NodeProcess): void {
    this.#self = self;
    // A snapshot seals credentials again, perhaps so that this node can read them.
    this.#needsSnapshot ||= this.#options.compiler.unreadable > 0;
    this.#connect(this.#tables.revision);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const parts = this.#parts;
    this.#unsubscribe();
    clearTimeout(this.#retry);
    await parts?.drop();
    await this.#writer.settled();
  }

  /** Subscribes from a revision; 0 asks for a snapshot. */
  #connect(knownRevision: number): void {
    if (this.#stopped) return;
    this.#unsubscribe();
    const fromRevision = this.#needsSnapshot ? 0 : knownRevision;
    const from = { nodeId: this.#self.nodeId, ...(fromRevision > 0 && { fromRevision }) };
    this.#restartSilenceTimer(fromRevision);
    this.#unfollow = this.#options.control.follow(from, {
      onEvent: (event) => {
        this.connected = true;
        this.#restartSilenceTimer(this.#tables.revision);
        this.#handleEvent(event);
      },
      onEnd: ({ code, message }) => {
        this.#options.log.warn({ code, reason: message }, 'the configuration stream ended; retrying');
        this.#reconnectLater(code === 'REVISION_GAP' ? 0 : this.#tables.revision);
      },
    });
  }

  #restartSilenceTimer(fromRevision: number): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#options.log.warn({ silenceMs: SILENCE_MS }, 'the configuration stream is silent; retrying');
      this.#reconnectLater(fromRevision);
    }, SILENCE_MS);
  }

  #unsubscribe(): void {
    clearTimeout(this.#silence);
    this.#unfollow?.();
    this.#unfollow = undefined;
    void this.#parts?.drop();
    this.#parts = undefined;
    this.#lagging = 0;
    this.connected = false;
  }

  /** Subscribes again after a back-off with full jitter, so that nodes do not return together. */
  #reconnectLater(fromRevision: number): void {
    this.#unsubscribe();
    clearTimeout(this.#retry);
    const waitMs = Math.random() * Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempts);
    this.#attempts = Math.min(this.#attempts + 1, 10);
    if (!this.#stopped) this.#retry = setTimeout(() => this.#connect(fromRevision), waitMs);
  }

  /** Requests a snapshot, because the tables of this node may be wrong. */
  #requestSnapshot(reason: string): void {
    this.#options.log.warn({ reason, revision: this.#tables.revision }, 'requesting a new snapshot');
    this.#reconnectLater(0);
  }

  #handleEvent(event: ConfigEvent): void {
    switch (event.__typename) {
      case 'ConfigSnapshot':
        return this.#handleSnapshotPart(event);
      case 'ConfigDelta':
        return this.#handleDelta(event);
      case 'ConfigHeartbeat':
        this.#options.clock.set(event.at);
        return this.#handleHeartbeat(event.revision);
      case 'LeaseRecall':
        return this.#options.onRecall(event.leaseId);
      default:
        return this.#requestSnapshot('an event of unknown type arrived');
    }
  }

  #handleSnapshotPart(event: Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>): void {
    const { file, clock } = this.#options;
    if (event.chunk === 0) this.#parts = new SnapshotParts(event, file.receive(), clock.now());
    if (!this.#parts?.add(event)) return this.#requestSnapshot('the parts of a snapshot do not fit together');
    const { whole } = this.#parts;
    if (whole) this.#applySnapshot(whole);
  }

  #applySnapshot(whole: WholeSnapshot): void {
    this.#parts = undefined;
    try {
      this.#swap(whole.tables(), undefined, whole.lines);
      this.#needsSnapshot = false;
    } catch (error) {
      void whole.lines.drop();
      this.#refuse(whole, messageOf(error));
    }
  }

  #handleDelta(event: Extract<ConfigEvent, { __typename: 'ConfigDelta' }>): void {
    const { fromRevision, revision, checksum, upserts, removals } = event;
    if (revision <= this.#tables.revision) return;
    if (this.#parts || fromRevision !== this.#tables.revision) {
      return this.#requestSnapshot(`a delta from revision ${fromRevision} arrived`);
    }
    const change = { revision, checksum, upserts, removals };
    try {
      this.#swap(changed(this.#tables, change), change);
    } catch (error) {
      this.#refuse(change, messageOf(error));
      // The delta may be right and the tables of this node wrong.
      this.#requestSnapshot('a delta was refused');
    }
  }

  #handleHeartbeat(revision: number): void {
    if (revision === this.#tables.revision) {
      this.#lagging = 0;
      const stored = { tables: this.#tables, confirmedAt: this.#options.clock.now() };
      this.#confirm(stored);
      // The last acknowledgement may have been lost; nothing else repeats it.
      this.#writer.acknowledgeAgain(stored);
    } else if (revision !== this.#refused && !this.#parts) {
      this.#lagging += 1;
      if (this.#lagging >= LAGGING_HEARTBEATS)
        this.#requestSnapshot(`the control plane is at revision ${revision}`);
    }
  }

  /**
   * Puts the tables in use at once; then writes the file and acknowledges, in this order. The file gets the
   * change, or the lines of the snapshot. Throws if the tables must not be used.
   */
  #swap(tables: Tables, change: TableChange | undefined, lines?: ReceivedLines): void {
    const confirmedAt = this.#options.clock.now();
    this.#use(tables, confirmedAt);
    this.#attempts = 0;
    this.#refused = 0;
    this.#lagging = 0;
    this.#writer.write({ tables, confirmedAt, lines }, change);
  }

  #use(tables: Tables, confirmedAt: number): void {
    const { compiler, store } = this.#options;
    const config = compiler.compile(tables, confirmedAt);
    const stopped = keysStopped(this.#tables, tables, confirmedAt);
    this.#tables = tables;
    store.swap(config, stopped);
  }

  #refuse({ revision, checksum }: Revision, reason: string): void {
    this.#refused = revision;
    this.#options.log.warn({ revision, reason }, 'a configuration was refused; the last one stays in use');
    this.#acks.add({ revision, checksum, error: reason });
  }

  #confirm(stored: StoredConfig): void {
    const { store } = this.#options;
    if (store.current) store.swap(confirmedConfig(store.current, stored.confirmedAt), new Map());
    this.#writer.confirm(stored);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
