/**
 * Pushes the configuration to the nodes that are connected to this process, and waits for their
 * acknowledgements.
 */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { seal } from '@gateway/shared/sealing';
import type { ConfigEntry, ConfigEvent } from '@gateway/shared/node-api';
import type { ConfigKind, ConfigRecord } from '@gateway/shared/records';
import { CONFIG_CHANNEL } from '../config-log.ts';
import type { Acks } from '../config-log.ts';
import { requestError } from '../errors.ts';
import { Listener } from '../listener.ts';
import { query, sql } from '../sql.ts';
import { RECALL_CHANNEL } from '../wallet/lease.recall.ts';
import { ConfigState } from './config-state.ts';
import type { LogRow } from './config-state.ts';
import { EventQueue } from './event-queue.ts';
import { tellRecalls } from './recalls.ts';
import type { Listening } from './recalls.ts';
import { ACK_CHANNEL, acksOf, endStream, markStreams, publicKeyOf } from './node.stream.ts';

/** Notifications can be lost; the log itself cannot. */
const POLL_MS = 1_000;
const HEARTBEAT_MS = 5_000;
/** Without a look at the log for this long, no heartbeat claims that anything is current. */
const FRESH_MS = 3_000;
const ACK_POLL_MS = 100;
/** Events that may wait for a slow node before its stream is ended; it then comes back for a snapshot. */
const QUEUE_MAX = 256;

/** Opens a stored credential; undefined where it is gone. */
export type CredentialOpener = (em: EntityManager, credentialId: string) => Promise<string | undefined>;

export interface FeedParts {
  orm: MikroORM;
  databaseUrl: string;
  openCredential: CredentialOpener;
  /** Told of failures that heal by themselves. */
  onTrouble?: (error: unknown) => void;
}

interface Stream extends Listening {
  streamId: string;
}

/** One per process: follows the log, and feeds every node that is connected here. */
export class ConfigFeed {
  readonly #parts: FeedParts;
  #state = new ConfigState();
  readonly #streams = new Map<string, Stream>();
  readonly #acks = new EventEmitter();
  #listener: Listener | undefined;
  #timers: NodeJS.Timeout[] = [];
  #looking: Promise<void> | undefined;
  #telling: Promise<void> | undefined;
  #lookAgain = false;
  #lookedAt = 0;
  #stopped = false;

  private constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#acks.setMaxListeners(0);
  }

  /** Reads the whole log, then follows it until `stop`. */
  static async start(parts: FeedParts): Promise<ConfigFeed> {
    const feed = new ConfigFeed(parts);
    feed.#listener = await feed.#listen();
    await feed.#look();
    feed.#timers.push(
      setInterval(() => {
        void feed.#look();
        void feed.#tell();
      }, POLL_MS),
      setInterval(() => {
        void feed.#beat();
      }, HEARTBEAT_MS),
    );
    return feed;
  }

  get revision(): number {
    return this.#state.revision;
  }
  get checksum(): string {
    return this.#state.checksum;
  }

  /**
   * Everything the node must know, then every change, until the consumer stops or falls too far behind.
   * Throws REVISION_GAP where the changes since `fromRevision` are no longer known: come back without it.
   * Credentials are sealed for the node.
   */
  follow(nodeId: string, fromRevision: number | null): AsyncIterableIterator<ConfigEvent> {
    for (const earlier of this.#streams.values()) if (earlier.nodeId === nodeId) earlier.queue.end();
    const queue = new EventQueue<ConfigEvent>(QUEUE_MAX);
    const stream: Stream = { nodeId, streamId: randomUUID(), queue, toldTo: '' };
    const events = this.#events(stream, fromRevision);
    return {
      next: () => events.next(),
      // A generator that waits for its next event hears of its end only afterwards: so the wait is ended
      // first.
      return: () => {
        stream.queue.end();
        return events.return();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** How far connected nodes have come; waits until all of them have, at most `timeoutMs`. */
  async waitForAcks(revision: number, timeoutMs: number): Promise<Acks> {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const heard = once(this.#acks, 'ack', { signal: AbortSignal.timeout(ACK_POLL_MS) }).catch(
        () => undefined,
      );
      const acks = await acksOf(this.#parts.orm.em.fork(), revision);
      if (acks.pendingNodes.length === 0 || performance.now() >= deadline) return acks;
      await heard;
    }
  }

  /** Ends all streams and stops following the log. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const stream of this.#streams.values()) stream.queue.end();
    await this.#listener?.stop();
    await this.#looking;
    await this.#telling;
  }

  async *#events(stream: Stream, fromRevision: number | null): AsyncGenerator<ConfigEvent, void, void> {
    const em = this.#parts.orm.em.fork();
    const publicKey = await publicKeyOf(em, stream.nodeId);
    if (!publicKey)
      throw requestError('BAD_USER_INPUT', 'Register the node first: it has no key to seal credentials for.');
    await this.#look();
    try {
      await markStreams(em, [stream]);
      // Nothing is awaited between looking at the state and joining the streams that hear of its changes.
      const first = fromRevision === null ? this.#state.snapshot() : this.#state.since(fromRevision);
      this.#streams.set(stream.streamId, stream);
      if (!first)
        throw requestError(
          'REVISION_GAP',
          'Deltas from this revision are gone. Subscribe without fromRevision.',
        );
      await tellRecalls(em, [stream]);
      for (const event of first) yield await this.#sealed(event, publicKey);
      yield this.#heartbeat();
      for (let event = await stream.queue.next(); event; event = await stream.queue.next()) {
        yield await this.#sealed(event, publicKey);
      }
    } finally {
      this.#streams.delete(stream.streamId);
      await endStream(this.#parts.orm.em.fork(), stream.streamId).catch((error: unknown) =>
        this.#parts.onTrouble?.(error),
      );
    }
  }

  /** Reads what is new in the log; of calls that come while it reads, one more look is made. */
  #look(): Promise<void> {
    if (this.#looking) {
      this.#lookAgain = true;
      return this.#looking;
    }
    this.#looking = this.#read()
      .catch((error: unknown) => this.#parts.onTrouble?.(error))
      .finally(() => {
        this.#looking = undefined;
      });
    return this.#looking;
  }

  async #read(): Promise<void> {
    do {
      this.#lookAgain = false;
      const { rows, head } = await readLog(this.#parts.orm.em.fork(), this.#state.revision);
      if (head.revision < this.#state.revision) this.#startOver();
      else this.#advance(rows, head);
      this.#lookedAt = performance.now();
    } while (this.#lookAgain && !this.#stopped);
  }

  /** Tells nodes again what they were asked to give back; a call that comes meanwhile is left to the next. */
  #tell(): Promise<void> {
    this.#telling ??= tellRecalls(this.#parts.orm.em.fork(), this.#streams.values())
      .catch((error: unknown) => this.#parts.onTrouble?.(error))
      .finally(() => {
        this.#telling = undefined;
      });
    return this.#telling;
  }

  #advance(rows: readonly LogRow[], head: { revision: number; prunedTo: number }): void {
    const delta = this.#state.advance(rows, head);
    if (!delta) return;
    const events = this.#state.asEvents(delta);
    for (const stream of this.#streams.values()) for (const event of events) stream.queue.push(event);
  }

  /** The database went back in time (a backup was restored): nothing that was sent holds any more. */
  #startOver(): void {
    this.#state = new ConfigState();
    this.#lookAgain = true;
    for (const stream of this.#streams.values()) {
      stream.queue.end(
        requestError('REVISION_GAP', 'The configuration was replaced. Subscribe without fromRevision.'),
      );
    }
  }

  async #beat(): Promise<void> {
    if (performance.now() - this.#lookedAt > FRESH_MS) return;
    const event = this.#heartbeat();
    for (const stream of this.#streams.values()) stream.queue.push(event);
    const streams = [...this.#streams.values()];
    if (streams.length === 0) return;
    await markStreams(this.#parts.orm.em.fork(), streams).catch((error: unknown) =>
      this.#parts.onTrouble?.(error),
    );
  }

  #heartbeat(): ConfigEvent {
    return { __typename: 'ConfigHeartbeat', revision: this.#state.revision, at: new Date().toISOString() };
  }

  async #sealed(event: ConfigEvent, publicKey: string): Promise<ConfigEvent> {
    const sealAll = (entries: ConfigEntry[]): Promise<ConfigEntry[]> =>
      Promise.all(entries.map((entry) => this.#sealEntry(entry, publicKey)));
    if (event.__typename === 'ConfigSnapshot') return { ...event, entries: await sealAll(event.entries) };
    if (event.__typename === 'ConfigDelta') return { ...event, upserts: await sealAll(event.upserts) };
    return event;
  }

  async #sealEntry(entry: ConfigEntry, publicKey: string): Promise<ConfigEntry> {
    const { payload } = entry;
    if (payload.kind !== 'CREDENTIAL') return entry;
    const secret = await this.#parts.openCredential(this.#parts.orm.em.fork(), payload.id);
    // Removed since this event was made: what the node would hold is already out of date.
    if (secret === undefined)
      throw requestError('REVISION_GAP', 'The configuration changed meanwhile. Subscribe again.');
    return { ...entry, payload: { ...payload, sealed: seal(secret, publicKey, payload.id) } };
  }

  #listen(): Promise<Listener> {
    return Listener.start({
      databaseUrl: this.#parts.databaseUrl,
      channels: [CONFIG_CHANNEL, RECALL_CHANNEL, ACK_CHANNEL],
      onNotice: (channel, payload) => this.#hear(channel, payload),
      onReturn: () => {
        void this.#look();
        void this.#tell();
      },
      ...(this.#parts.onTrouble && { onTrouble: this.#parts.onTrouble }),
    });
  }

  #hear(channel: string, payload: string): void {
    if (channel === CONFIG_CHANNEL) void this.#look();
    if (channel === ACK_CHANNEL) this.#acks.emit('ack');
    if (channel !== RECALL_CHANNEL) return;
    const [nodeId, leaseId = ''] = payload.split(' ');
    for (const stream of this.#streams.values()) {
      if (stream.nodeId === nodeId) stream.queue.push({ __typename: 'LeaseRecall', leaseId });
    }
  }
}

/** The rows above a revision and the head they belong to, in one statement: no commit can come between. */
async function readLog(
  em: EntityManager,
  above: number,
): Promise<{ rows: LogRow[]; head: { revision: number; prunedTo: number } }> {
  const found = await query<{
    head: number;
    pruned_to: number;
    kind: ConfigKind | null;
    key: string;
    revision: number;
    payload: ConfigRecord | null;
  }>(
    em,
    sql`
    select h.revision as head, h.pruned_to, c.kind, c.key, c.revision, c.payload
    from config_head h left join config_log c on c.revision > ${above} order by c.revision`,
  );
  const rows = found.flatMap(({ kind, key, revision, payload }) =>
    kind ? [{ kind, key, revision, payload }] : [],
  );
  return { rows, head: { revision: found[0]?.head ?? 0, prunedTo: found[0]?.pruned_to ?? 0 } };
}
