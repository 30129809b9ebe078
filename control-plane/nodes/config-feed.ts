/** Pushes configuration to the nodes that are connected to this process, and collects acknowledgements. */
import { randomUUID } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { ConfigEvent } from '@gateway/shared/node-api';
import { CONFIG_CHANNEL, readLogAfter, readManyAfter } from '../database/config-log.ts';
import type { Acknowledgement, Acks, LogHead, LogRow, NodeFeed } from '../database/config-log.ts';
import { requestError } from '../graphql/errors.ts';
import { Listener } from '../database/listener.ts';
import { RECALL_CHANNEL } from '../wallet/lease.recall.ts';
import { Confirmations } from './confirmations.ts';
import { ConfigState } from './config-state.ts';
import { EventQueue } from './event-queue.ts';
import { resendRecalls } from './recalls.ts';
import type { RecallTarget } from './recalls.ts';
import { eventFor } from './sealed-events.ts';
import type { FeedEvent, SecretReaders } from './sealed-events.ts';
import {
  ACK_CHANNEL,
  acknowledge,
  endStream,
  markStreams,
  publicKeyOf,
  servingNodes,
} from './node.stream.ts';

/** The log is also polled, because notifications can be lost. */
const POLL_MS = 1_000;
const HEARTBEAT_MS = 5_000;
/** No heartbeats are sent if the log was last read longer ago than this: the revision may be outdated. */
const FRESH_MS = 3_000;
/** A busy control plane needs seconds to store an acknowledgement. */
const ACK_WAIT_MS = 4_000;
/** Events that may wait for a slow node. Beyond it, its stream ends and the node subscribes again. */
const QUEUE_MAX = 256;

export interface FeedParts extends Pick<SecretReaders, 'openCredential' | 'openStateKey'> {
  /** Connections that only the feed uses: acknowledgements do not wait behind the changes they confirm. */
  orm: MikroORM;
  databaseUrl: string;
  /** Receives failures that are retried. */
  onTrouble?: (error: unknown) => void;
}

interface Stream extends RecallTarget {
  streamId: string;
  /** Whether the node reads compressed entries. */
  isPacked: boolean;
}

/** Follows the configuration log and sends it to every node that is connected here. One per process. */
export class ConfigFeed implements NodeFeed {
  readonly #parts: FeedParts;
  readonly #readers: SecretReaders;
  #state = new ConfigState();
  readonly #streams = new Map<string, Stream>();
  readonly #confirmations: Confirmations;
  #listener: Listener | undefined;
  #timers: NodeJS.Timeout[] = [];
  #reading: Promise<void> | undefined;
  #resending: Promise<void> | undefined;
  #readAgain = false;
  #readAt = 0;
  #stopped = false;

  private constructor(parts: FeedParts) {
    this.#parts = parts;
    this.#readers = { ...parts, em: () => parts.orm.em.fork() };
    this.#confirmations = new Confirmations(() => servingNodes(parts.orm.em.fork()));
  }

  /** Reads the whole log, then follows it until `stop`. Rejects if the database cannot be reached. */
  static async start(parts: FeedParts): Promise<ConfigFeed> {
    const feed = new ConfigFeed(parts);
    feed.#listener = await feed.#listen();
    await feed.#read();
    feed.#timers.push(
      setInterval(() => {
        void feed.#read();
        void feed.#resendRecalls();
      }, POLL_MS),
      setInterval(() => {
        void feed.#sendHeartbeats();
      }, HEARTBEAT_MS),
    );
    return feed;
  }

  /** The newest revision that this process has read. */
  get revision(): number {
    return this.#state.revision;
  }
  /** The checksum of that revision. */
  get checksum(): string {
    return this.#state.checksum;
  }

  /**
   * The whole configuration, or the changes since `fromRevision`, then every further change, with credentials
   * sealed for the node. Ends when the consumer falls too far behind or the node opens another stream. Throws
   * RATE_LIMITED after `stop`. The iterator throws REVISION_GAP if changes since `fromRevision` are missing,
   * and BAD_USER_INPUT if the node has not registered.
   */
  follow(nodeId: string, fromRevision: number | null, isPacked = false): AsyncIterableIterator<ConfigEvent> {
    if (this.#stopped) throw requestError('RATE_LIMITED', 'The control plane is stopping. Subscribe again.');
    for (const earlier of this.#streams.values()) if (earlier.nodeId === nodeId) earlier.queue.end();
    const queue = new EventQueue<FeedEvent>(QUEUE_MAX);
    const stream: Stream = { nodeId, streamId: randomUUID(), isPacked, queue, lastRecalled: '' };
    const events = this.#events(stream, fromRevision);
    return {
      next: () => events.next(),
      // `return` of a generator takes effect only after its pending `next`, so the queue is ended first.
      return: () => {
        stream.queue.end();
        return events.return();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Waits as described at `NodeFeed`. Does not wait after `stop`. */
  waitForAcks(revision: number, timeoutMs = ACK_WAIT_MS): Promise<Acks> {
    return this.#confirmations.wait(revision, timeoutMs);
  }

  /** Stores an acknowledgement, as described at `NodeFeed`. */
  acknowledge(nodeId: string, ack: Acknowledgement): Promise<void> {
    return acknowledge(this.#parts.orm.em.fork(), nodeId, ack);
  }

  /** Ends all streams and stops following the log. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#confirmations.stop();
    for (const timer of this.#timers) clearTimeout(timer);
    for (const stream of this.#streams.values()) stream.queue.end();
    await this.#listener?.stop();
    await this.#reading;
    await this.#resending;
  }

  async *#events(stream: Stream, fromRevision: number | null): AsyncGenerator<ConfigEvent, void, void> {
    const em = this.#parts.orm.em.fork();
    const publicKey = await publicKeyOf(em, stream.nodeId);
    if (!publicKey)
      throw requestError(
        'BAD_USER_INPUT',
        'The node has no public key. Register it with nodeRegister first.',
      );
    await this.#read();
    try {
      await markStreams(em, [stream]);
      while (!this.#state.isWhole && this.#reading) await this.#reading;
      if (!this.#state.isWhole)
        throw requestError('RATE_LIMITED', 'The configuration cannot be read at present. Subscribe again.');
      // No await between reading the state and adding the stream: a change in between would be lost.
      const first = fromRevision === null ? this.#state.snapshot() : this.#state.since(fromRevision);
      this.#streams.set(stream.streamId, stream);
      // Queued before later changes: a heartbeat must not name a revision that the node does not have yet.
      stream.queue.push(this.#heartbeat());
      if (!first)
        throw requestError(
          'REVISION_GAP',
          'The changes since fromRevision are no longer kept. Subscribe without fromRevision.',
        );
      await resendRecalls(em, [stream]);
      const node = { publicKey, isPacked: stream.isPacked };
      for (const event of first) yield await eventFor(node, event, this.#readers);
      for (let event = await stream.queue.next(); event; event = await stream.queue.next()) {
        yield await eventFor(node, event, this.#readers);
      }
    } finally {
      this.#streams.delete(stream.streamId);
      await endStream(this.#parts.orm.em.fork(), stream.streamId).catch((error: unknown) =>
        this.#parts.onTrouble?.(error),
      );
    }
  }

  /** Reads the new rows of the log. Calls during a read cause one more read. Never rejects. */
  #read(): Promise<void> {
    if (this.#reading) {
      this.#readAgain = true;
      return this.#reading;
    }
    this.#reading = this.#readOn()
      .catch((error: unknown) => this.#parts.onTrouble?.(error))
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #readOn(): Promise<void> {
    do {
      this.#readAgain = false;
      // A reading in parts has failed. Its state is of no one revision.
      if (!this.#state.isWhole) this.#state = new ConfigState();
      const em = this.#parts.orm.em.fork();
      const few = await readLogAfter(em, this.#state.revision);
      if (!few) await this.#readMany();
      else if (few.head.revision < this.#state.revision) this.#startOver();
      else this.#advance(few.rows, few.head);
      this.#readAt = performance.now();
    } while (this.#readAgain && !this.#stopped);
  }

  /** Reads many rows in parts; nodes then get a snapshot. */
  async #readMany(): Promise<void> {
    const state = this.#state;
    const em = this.#parts.orm.em.fork();
    const head = await readManyAfter(em, state.revision, (rows) => state.put(rows));
    if (head.revision < state.revision) return this.#startOver();
    state.advance([], head);
    const parts = state.snapshot();
    for (const stream of this.#streams.values()) for (const part of parts) stream.queue.push(part);
  }

  /** Sends open recalls again; a call during a round does nothing. Never rejects. */
  #resendRecalls(): Promise<void> {
    this.#resending ??= resendRecalls(this.#parts.orm.em.fork(), this.#streams.values())
      .catch((error: unknown) => this.#parts.onTrouble?.(error))
      .finally(() => {
        this.#resending = undefined;
      });
    return this.#resending;
  }

  #advance(rows: readonly LogRow[], head: LogHead): void {
    const delta = this.#state.advance(rows, head);
    if (!delta) return;
    const events = this.#state.asEvents(delta);
    for (const stream of this.#streams.values()) for (const event of events) stream.queue.push(event);
  }

  /**
   * After a restored backup the log has older revisions: reads all of it again, and ends the streams of
   * nodes.
   */
  #startOver(): void {
    this.#state = new ConfigState();
    this.#readAgain = true;
    for (const stream of this.#streams.values()) {
      stream.queue.end(
        requestError('REVISION_GAP', 'The configuration was restored. Subscribe without fromRevision.'),
      );
    }
  }

  async #sendHeartbeats(): Promise<void> {
    if (performance.now() - this.#readAt > FRESH_MS) return;
    const event = this.#heartbeat();
    for (const stream of this.#streams.values()) stream.queue.push(event);
    const streams = [...this.#streams.values()];
    if (streams.length === 0) return;
    await markStreams(this.#parts.orm.em.fork(), streams).catch((error: unknown) =>
      this.#parts.onTrouble?.(error),
    );
  }

  #heartbeat(): Extract<ConfigEvent, { __typename: 'ConfigHeartbeat' }> {
    return { __typename: 'ConfigHeartbeat', revision: this.#state.revision, at: new Date().toISOString() };
  }

  #listen(): Promise<Listener> {
    return Listener.start({
      databaseUrl: this.#parts.databaseUrl,
      channels: [CONFIG_CHANNEL, RECALL_CHANNEL, ACK_CHANNEL],
      onNotification: (channel, payload) => this.#onNotification(channel, payload),
      onReconnect: () => {
        void this.#read();
        void this.#resendRecalls();
      },
      ...(this.#parts.onTrouble && { onTrouble: this.#parts.onTrouble }),
    });
  }

  #onNotification(channel: string, payload: string): void {
    if (channel === CONFIG_CHANNEL) void this.#read();
    if (channel === ACK_CHANNEL) this.#confirmations.noteChange();
    if (channel !== RECALL_CHANNEL) return;
    const [nodeId, leaseId = ''] = payload.split(' ');
    for (const stream of this.#streams.values()) {
      if (stream.nodeId === nodeId) stream.queue.push({ __typename: 'LeaseRecall', leaseId });
    }
  }
}
