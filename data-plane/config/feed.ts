/**
 * Keeps the configuration current: follows the control plane, swaps what is good, refuses what is not,
 * acknowledges.
 */
import type { ConfigEvent, NodeProcess } from '@gateway/shared/node-api';
import type { Control } from '../control.ts';
import type { Log } from '../log.ts';
import { confirmedConfig, keysStopped } from './compile.ts';
import type { Compiler } from './compile.ts';
import type { ConfigFile, KeptConfig } from './file.ts';
import { SnapshotParts } from './snapshot-parts.ts';
import type { WholeSnapshot } from './snapshot-parts.ts';
import type { WritableStore } from './store.ts';
import { NO_TABLES, changed } from './tables.ts';
import type { TableChange, Tables } from './tables.ts';

/** The control plane sends something every 5 s; a stream that is silent for longer is given up, in ms. */
const SILENCE_MS = 20_000;
const RETRY_BASE_MS = 100;
const RETRY_MAX_MS = 5_000;
/** How often a mere confirmation is written to the file, in ms. */
const CONFIRMED_EVERY_MS = 60_000;
/**
 * Heartbeats that name a later revision before the node stops believing that its delta is still on its way.
 */
const LAGGING_HEARTBEATS = 2;

export interface FeedOptions {
  control: Pick<Control, 'follow' | 'acknowledge'>;
  compiler: Compiler;
  store: WritableStore;
  file: ConfigFile;
  log: Pick<Log, 'info' | 'warn'>;
  /** Called when the control plane wants a lease back. */
  onRecall(leaseId: string): void;
}

export interface Feed {
  /** Puts the kept configuration in use, when there is a good one. Never rejects. */
  startFromFile(): Promise<void>;
  /** Follows the control plane from here on, for ever, as this process of this node. */
  follow(self: NodeProcess): void;
  /** Revision in use; 0 before the first. */
  readonly revision: number;
  /** Whether the stream is open and has said something. */
  readonly connected: boolean;
  /** Stops following and waits for the file. */
  stop(): Promise<void>;
}

/** A feed that does nothing yet. */
export function createFeed(options: FeedOptions): Feed {
  return new ConfigFeed(options);
}

/** A state of the configuration, as the control plane names it. */
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
  /** The revision that was refused: heartbeats that name it do not mean that something is missing. */
  #refused = 0;
  /** The last revision that the control plane knows to be in use here. */
  #acknowledged = 0;
  #lagging = 0;
  #writtenAt = 0;
  #work: Promise<void> = Promise.resolve();
  #stopped = false;
  connected = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  get revision(): number {
    return this.#tables.revision;
  }

  async startFromFile(): Promise<void> {
    const { file, log } = this.#options;
    try {
      const kept = await file.load();
      if (!kept) return;
      this.#use(kept.tables, kept.confirmedAt);
      log.info({ revision: kept.tables.revision }, 'started from the kept configuration');
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the kept configuration cannot be used');
    }
  }

  follow(self: NodeProcess): void {
    this.#self = self;
    this.#connect(this.#tables.revision);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#hangUp();
    clearTimeout(this.#retry);
    await this.#work;
  }

  /** Subscribes; revision 0 asks for a snapshot. */
  #connect(fromRevision: number): void {
    if (this.#stopped) return;
    this.#hangUp();
    const from = { nodeId: this.#self.nodeId, ...(fromRevision > 0 && { fromRevision }) };
    this.#listen(fromRevision);
    this.#unfollow = this.#options.control.follow(from, {
      event: (event) => {
        this.connected = true;
        this.#listen(this.#tables.revision);
        this.#take(event);
      },
      ended: ({ code, message }) => {
        this.#options.log.warn({ code, reason: message }, 'the configuration stream ended');
        this.#again(code === 'REVISION_GAP' ? 0 : this.#tables.revision);
      },
    });
  }

  #listen(fromRevision: number): void {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => {
      this.#options.log.warn({ silenceMs: SILENCE_MS }, 'the configuration stream is silent');
      this.#again(fromRevision);
    }, SILENCE_MS);
  }

  #hangUp(): void {
    clearTimeout(this.#silence);
    this.#unfollow?.();
    this.#unfollow = undefined;
    this.#parts = undefined;
    this.#lagging = 0;
    this.connected = false;
  }

  /** Follows again after a wait with full jitter, so that nodes do not come back in step. */
  #again(fromRevision: number): void {
    this.#hangUp();
    clearTimeout(this.#retry);
    const waitMs = Math.random() * Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** this.#attempts);
    this.#attempts = Math.min(this.#attempts + 1, 10);
    if (!this.#stopped) this.#retry = setTimeout(() => this.#connect(fromRevision), waitMs);
  }

  /** What the node holds may not be what it should: only a snapshot ends that. */
  #doubt(reason: string): void {
    this.#options.log.warn({ reason, revision: this.#tables.revision }, 'asking for a new snapshot');
    this.#again(0);
  }

  #take(event: ConfigEvent): void {
    switch (event.__typename) {
      case 'ConfigSnapshot':
        return this.#takeChunk(event);
      case 'ConfigDelta':
        return this.#takeDelta(event);
      case 'ConfigHeartbeat':
        return this.#takeHeartbeat(event.revision);
      case 'LeaseRecall':
        return this.#options.onRecall(event.leaseId);
      default:
        return this.#doubt('an event of unknown type came');
    }
  }

  #takeChunk(event: Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>): void {
    if (event.chunk === 0) this.#parts = new SnapshotParts(event);
    if (!this.#parts?.add(event)) return this.#doubt('the parts of a snapshot do not fit together');
    const { whole } = this.#parts;
    if (whole) this.#takeSnapshot(whole);
  }

  #takeSnapshot(whole: WholeSnapshot): void {
    this.#parts = undefined;
    try {
      this.#swap(whole.tables(), whole);
    } catch (error) {
      this.#refuse(whole, messageOf(error));
    }
  }

  #takeDelta(event: Extract<ConfigEvent, { __typename: 'ConfigDelta' }>): void {
    const { fromRevision, revision, checksum, upserts, removals } = event;
    if (revision <= this.#tables.revision) return;
    if (this.#parts || fromRevision !== this.#tables.revision) {
      return this.#doubt(`a delta from revision ${fromRevision} came`);
    }
    const change = { revision, checksum, upserts, removals };
    try {
      this.#swap(changed(this.#tables, change), change);
    } catch (error) {
      this.#refuse(change, messageOf(error));
      // It may only have been wrong together with what it was put upon.
      this.#doubt('a delta was refused');
    }
  }

  #takeHeartbeat(revision: number): void {
    if (revision === this.#tables.revision) {
      this.#lagging = 0;
      this.#confirm();
      // The answer to an acknowledgement can get lost like any other; nobody else would ever repeat it.
      if (this.#acknowledged !== revision) this.#then(() => this.#acknowledgeAgain());
    } else if (revision !== this.#refused && !this.#parts) {
      this.#lagging += 1;
      if (this.#lagging >= LAGGING_HEARTBEATS) this.#doubt(`the control plane is at revision ${revision}`);
    }
  }

  /**
   * Swaps at once; the file and the acknowledgement follow in order behind. Throws where the tables may not
   * be served.
   */
  #swap(tables: Tables, told: Revision | TableChange): void {
    const confirmedAt = Date.now();
    this.#use(tables, confirmedAt);
    this.#attempts = 0;
    this.#refused = 0;
    this.#lagging = 0;
    const kept = { tables, confirmedAt };
    this.#then(() => this.#keep('upserts' in told ? told : undefined, kept));
    this.#then(() => this.#acknowledge(told));
  }

  #use(tables: Tables, confirmedAt: number): void {
    const { compiler, store } = this.#options;
    const config = compiler.compile(tables, confirmedAt);
    const stopped = keysStopped(this.#tables, tables);
    this.#tables = tables;
    store.swap(config, stopped);
  }

  #refuse({ revision, checksum }: Revision, reason: string): void {
    this.#refused = revision;
    this.#options.log.warn({ revision, reason }, 'a configuration was refused; the old one serves on');
    this.#then(() => this.#acknowledge({ revision, checksum }, reason));
  }

  #confirm(): void {
    const { store } = this.#options;
    const confirmedAt = Date.now();
    if (store.current) store.swap(confirmedConfig(store.current, confirmedAt), new Map());
    if (confirmedAt - this.#writtenAt < CONFIRMED_EVERY_MS && confirmedAt >= this.#writtenAt) return;
    this.#writtenAt = confirmedAt;
    const kept = { tables: this.#tables, confirmedAt };
    this.#then(() => this.#options.file.writeConfirmed(kept));
  }

  async #keep(change: TableChange | undefined, kept: KeptConfig): Promise<void> {
    this.#writtenAt = kept.confirmedAt;
    if (change) await this.#options.file.writeDelta(change, kept);
    else await this.#options.file.writeSnapshot(kept);
  }

  async #acknowledge({ revision, checksum }: Revision, error?: string): Promise<void> {
    // A later revision is acknowledged right behind, and says the same of this one.
    if (!error && revision < this.#tables.revision) return;
    this.#acknowledged = 0;
    const answer = await this.#options.control.acknowledge({
      ...this.#self,
      revision,
      checksum,
      ...(error && { error }),
    });
    if (answer.ok) this.#acknowledged = error ? 0 : revision;
    else
      this.#options.log.warn({ revision, userErrors: answer.userErrors }, 'an acknowledgement was refused');
  }

  async #acknowledgeAgain(): Promise<void> {
    if (this.#acknowledged !== this.#tables.revision) await this.#acknowledge(this.#tables);
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(work).catch((error: unknown) => {
      this.#options.log.warn(
        { reason: messageOf(error) },
        'the configuration could not be kept or acknowledged',
      );
    });
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
