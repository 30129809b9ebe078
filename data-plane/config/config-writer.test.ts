/** Acknowledgements while further changes arrive. */
import { expect, it } from 'vitest';
import { Acknowledgements } from './acknowledgements.ts';
import type { Acknowledgement } from './acknowledgements.ts';
import { ConfigWriter } from './config-writer.ts';
import { ConfigFile } from './file.ts';
import type { StoredConfig } from './file.ts';
import { NO_TABLES } from './tables.ts';

const ACCEPTED = { ok: true, userErrors: [] };
const CHANGES = 50;

/** Acknowledgements that the control plane accepts. `onSent` is called before each of them is accepted. */
const accepted = (onSent: (ack: Acknowledgement) => unknown) =>
  new Acknowledgements({
    send: async (ack) => {
      await onSent(ack);
      return ACCEPTED;
    },
    onTrouble: () => undefined,
  });
const stateAt = (revision: number) => ({ tables: { ...NO_TABLES, revision }, confirmedAt: 0 });
const changeTo = (revision: number) => ({ revision, checksum: '', upserts: [], removals: [] });

it('each write is acknowledged although a later change is always already in use', async () => {
  const sent: Acknowledgement[] = [];
  const written: number[] = [];
  const acks = accepted((ack) => {
    expect(written).toContain(ack.revision);
    sent.push(ack);
  });
  const file = {
    writeSnapshot: async () => undefined,
    writeConfirmed: async () => undefined,
    discard: async () => undefined,
    // The next change arrives during each write.
    writeDeltas: async (changes: readonly { revision: number }[]) => {
      const revision = changes.at(-1)?.revision ?? 0;
      if (revision < CHANGES) writer.write(stateAt(revision + 1), changeTo(revision + 1));
      await new Promise((resolve) => setImmediate(resolve));
      written.push(revision);
    },
  };
  const writer = new ConfigWriter({ file, acks, onTrouble: () => undefined });
  writer.write(stateAt(1), changeTo(1));
  await writer.settled();
  expect(sent.map(({ revision }) => revision)).toEqual(written);
  expect(written).toHaveLength(CHANGES);
});

it('changes that arrive during a write are written at once, and acknowledged once', async () => {
  const sent: number[] = [];
  const writes: number[][] = [];
  const acks = accepted(({ revision }) => sent.push(revision));
  const file = {
    writeSnapshot: async () => undefined,
    writeConfirmed: async () => undefined,
    discard: async () => undefined,
    writeDeltas: async (changes: readonly { revision: number }[]) => {
      writes.push(changes.map(({ revision }) => revision));
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const writer = new ConfigWriter({ file, acks, onTrouble: () => undefined });
  writer.write(stateAt(1), changeTo(1));
  await new Promise((resolve) => setImmediate(resolve));
  for (const revision of [2, 3, 4]) writer.write(stateAt(revision), changeTo(revision));
  await writer.settled();
  expect(writes).toEqual([[1], [2, 3, 4]]);
  expect(sent).toEqual([1, 4]);
});

it('a snapshot that was followed by changes is written as it arrived, and the changes after it', async () => {
  const writes: unknown[] = [];
  const sent: number[] = [];
  const file = {
    writeSnapshot: async ({ lines }: StoredConfig) => void writes.push(lines),
    writeConfirmed: async () => undefined,
    discard: async () => undefined,
    writeDeltas: async (changes: readonly { revision: number }[]) =>
      void writes.push(changes.map(({ revision }) => revision)),
  };
  const acks = accepted(({ revision }) => sent.push(revision));
  const writer = new ConfigWriter({ file, acks, onTrouble: () => undefined });
  const lines = new ConfigFile('/nowhere/config.log').receive();
  writer.write(stateAt(1), changeTo(1));
  writer.write({ ...stateAt(2), lines }, undefined);
  for (const revision of [3, 4]) writer.write(stateAt(revision), changeTo(revision));
  await writer.settled();
  expect(writes).toEqual([lines, [3, 4]]);
  expect(sent).toEqual([4]);
});

it('a configuration is acknowledged only once the file has it or is removed', async () => {
  const steps: string[] = [];
  const fail = async (): Promise<never> => {
    steps.push('failed');
    throw new Error('The disk is full.');
  };
  const file = {
    writeSnapshot: fail,
    writeConfirmed: fail,
    writeDeltas: fail,
    discard: async () => void steps.push('removed'),
  };
  const acks = accepted(({ revision }) => steps.push(`acknowledged ${revision}`));
  const writer = new ConfigWriter({ file, acks, onTrouble: (error) => steps.push(String(error)) });
  writer.write(stateAt(1), changeTo(1));
  await writer.settled();
  expect(steps).toEqual(['failed', 'removed', 'acknowledged 1', 'Error: The disk is full.']);
});

it('nothing is acknowledged while an older file can be neither replaced nor removed', async () => {
  const sent: number[] = [];
  const writes: number[] = [];
  let isDamaged = true;
  const use = async (): Promise<void> => {
    if (isDamaged) throw new Error('The disk cannot be written.');
  };
  const file = {
    writeSnapshot: async ({ tables }: StoredConfig) => use().then(() => void writes.push(tables.revision)),
    writeConfirmed: use,
    writeDeltas: use,
    discard: use,
  };
  const acks = accepted(({ revision }) => sent.push(revision));
  const writer = new ConfigWriter({ file, acks, onTrouble: () => undefined });
  writer.write(stateAt(1), changeTo(1));
  await writer.settled();
  writer.acknowledgeAgain(stateAt(1));
  await writer.settled();
  expect(sent).toEqual([]);
  isDamaged = false;
  writer.acknowledgeAgain(stateAt(1));
  await writer.settled();
  expect({ writes, sent }).toEqual({ writes: [1], sent: [1] });
});

it('a waiting acknowledgement of a revision is replaced by a later one, and a refusal is kept', async () => {
  const sent: number[] = [];
  const first = Promise.withResolvers<void>();
  const acks = accepted(async ({ revision }) => {
    sent.push(revision);
    if (revision === 1) await first.promise;
  });
  acks.add({ revision: 1, checksum: '' });
  acks.add({ revision: 2, checksum: '' });
  acks.add({ revision: 3, checksum: '', error: 'refused' });
  acks.add({ revision: 4, checksum: '' });
  acks.add({ revision: 5, checksum: '' });
  first.resolve();
  await acks.settled();
  expect(sent).toEqual([1, 3, 5]);
  expect(acks.accepted).toBe(5);
});
