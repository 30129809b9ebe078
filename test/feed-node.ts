/** A stand-in for a node that follows the configuration feed. */
import { gunzipSync } from 'node:zlib';
import { ConfigChecksum } from '@gateway/shared/checksum';
import type { ConfigEntry, ConfigEvent } from '@gateway/shared/node-api';
import type { AccountRecord } from '@gateway/shared/records';

/** A stand-in for a node: applies the events of its stream and keeps the entries. */
export class FeedNode {
  readonly entries = new Map<string, { kind: string; key: string; revision: number; payload: unknown }>();
  readonly recalls: string[] = [];
  packedParts = 0;
  revision = 0;
  checksum = '';
  readonly stream: AsyncIterableIterator<ConfigEvent>;

  constructor(stream: AsyncIterableIterator<ConfigEvent>) {
    this.stream = stream;
  }

  /** Applies events until `done` returns true. */
  async until(done: () => boolean): Promise<void> {
    while (!done()) {
      const { value, done: ended } = await this.stream.next();
      if (ended) throw new Error('The stream ended.');
      this.apply(value);
    }
  }

  /** Applies events up to this revision; a snapshot reaches its revision with the last chunk. */
  reach(revision: number): Promise<void> {
    return this.until(() => this.revision >= revision);
  }

  apply(event: ConfigEvent): void {
    if (event.__typename === 'LeaseRecall') this.recalls.push(event.leaseId);
    if (event.__typename === 'ConfigHeartbeat') this.revision = Math.max(this.revision, event.revision);
    if (event.__typename === 'ConfigSnapshot') {
      if (event.packed) this.packedParts += 1;
      if (event.chunk === 0) this.entries.clear();
      for (const entry of entriesOf(event)) this.entries.set(`${entry.kind} ${entry.key}`, entry);
      if (event.chunk === event.chunks - 1) this.arrive(event);
    }
    if (event.__typename === 'ConfigDelta') {
      for (const { kind, key } of event.removals) this.entries.delete(`${kind} ${key}`);
      for (const entry of event.upserts) this.entries.set(`${entry.kind} ${entry.key}`, entry);
      this.arrive(event);
    }
  }

  /** The checksum over the entries that were applied. */
  get ownChecksum(): string {
    const sum = new ConfigChecksum();
    for (const { kind, key, revision } of this.entries.values()) sum.toggle(kind, key, revision);
    return sum.value;
  }

  private arrive({ revision, checksum }: { revision: number; checksum: string }): void {
    this.revision = revision;
    this.checksum = checksum;
  }
}

/** The entries of a part of a snapshot, compressed or not. */
function entriesOf({
  entries,
  packed,
}: Extract<ConfigEvent, { __typename: 'ConfigSnapshot' }>): ConfigEntry[] {
  return packed
    ? (JSON.parse(gunzipSync(Buffer.from(packed, 'base64')).toString()) as ConfigEntry[])
    : entries;
}

/** The record of an account that may spend. */
export const account = (id: string): AccountRecord => ({
  kind: 'ACCOUNT',
  id,
  walletId: id,
  frozen: false,
  suspended: false,
  closed: false,
});
