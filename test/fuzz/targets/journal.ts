/**
 * Journal segments: damaged bytes are refused or read as a prefix of what was written, and no record makes a
 * charge that its line does not hold.
 */
import { isDeepStrictEqual } from 'node:util';
import { parseDollars } from '@gateway/shared/money';
import { TimestampFormatter } from '@gateway/shared/timestamps';
import { encodeFrame } from '../../../data-plane/ledger/frames.ts';
import { emptyJournalState, toCheckpoint } from '../../../data-plane/ledger/journal-state.ts';
import type { JournalRecord, JournalState } from '../../../data-plane/ledger/journal-state.ts';
import { chargeAt, lineOf, pagedChargeOf, recordOf } from '../../../data-plane/ledger/lines.ts';
import { DamagedJournal, NewerJournal, replaySegment } from '../../../data-plane/ledger/replay.ts';
import { usageOf } from '../../ledger/records.ts';
import { demand } from '../target.ts';
import type { FuzzTarget } from '../target.ts';

const JOURNAL = 'journal_1';
const PATH = 'journal-000000001.log';
const CHECKPOINT = JSON.stringify(toCheckpoint(emptyJournalState(JOURNAL)));
const EDIT_BYTES = 3;
const LINES = recordLines();
const SEGMENT = Buffer.concat([CHECKPOINT, ...LINES].map((line, group) => encodeFrame(group, [line])));
/** The state after each whole frame. */
const PREFIXES = LINES.map((_, count) => statesOf(LINES.slice(0, count + 1))).concat(statesOf([]));

export const target: FuzzTarget = {
  run(input) {
    if (input[0] === 'e'.charCodeAt(0)) checkDamage(input.subarray(1));
    else if (input[0] === 's'.charCodeAt(0)) replayed(input.subarray(1));
    else checkLines(input.toString('utf8', 1).split('\n'));
  },
  seeds: [
    `l${LINES.join('\n')}`,
    'l{"type":"charge","seq":1,"leaseId":"lease_1","report":{"requestId":"r","cost":"0.1"}}',
    Buffer.concat([Buffer.from('s'), SEGMENT]),
    Buffer.from([...Buffer.from('e'), 0, 20, 1]),
    Buffer.from([...Buffer.from('e'), 1, 0, 255, 0, 90, 3]),
  ],
  tokens: [
    '"seq":',
    '"cost":',
    '"leaseId":',
    '"type":"settled"',
    '"type":"closed"',
    'lease_1',
    '-0.1',
    '1e3',
  ],
};

function recordLines(): string[] {
  const times = new TimestampFormatter();
  const charge = (seq: number): JournalRecord =>
    chargeAt(
      { journalId: JOURNAL, leaseId: 'lease_1', seq, cost: 100n },
      usageOf(`request_${seq}`, 100n),
      times,
    );
  const leases = [{ leaseId: 'lease_1', count: 1, rejected: 0, rejectedSum: '0' }];
  const records: JournalRecord[] = [
    { type: 'requested', no: 1, walletId: 'wallet_a', keyId: null, want: '1000', need: '100' },
    { type: 'granted', no: 1, leaseId: 'lease_1', amount: '1000' },
    charge(1),
    charge(2),
    { type: 'settled', seq: 1, leases },
    charge(3),
    { type: 'closed', leaseId: 'lease_2' },
  ];
  return records.map(lineOf);
}

function statesOf(lines: readonly string[]): unknown {
  const frames = [CHECKPOINT, ...lines].map((line, group) => encodeFrame(group, [line]));
  return toCheckpoint(replaySegment(PATH, Buffer.concat(frames)).state);
}

/** The state; undefined for a journal that is refused. */
function replayed(bytes: Buffer): JournalState | undefined {
  try {
    return replaySegment(PATH, bytes).state;
  } catch (error) {
    if (error instanceof DamagedJournal || error instanceof NewerJournal) return undefined;
    throw error;
  }
}

/** Overwrites bytes of a good journal: each edit has a place of two bytes and a value; 255 cuts the file. */
function checkDamage(edits: Buffer): void {
  let bytes = Buffer.from(SEGMENT);
  for (let at = 0; at + EDIT_BYTES <= edits.length; at += EDIT_BYTES) {
    const place = edits.readUInt16BE(at) % Math.max(1, bytes.length);
    const value = edits[at + 2] ?? 0;
    if (value === 255) bytes = bytes.subarray(0, place);
    else if (bytes.length > 0) bytes[place] = value;
  }
  const state = replayed(bytes);
  if (!state) return;
  const checkpoint = toCheckpoint(state);
  const isPrefix = PREFIXES.some((prefix) => isDeepStrictEqual(prefix, checkpoint));
  demand(isPrefix, 'a damaged journal is read as something that was never written');
}

/** Frames whose checksums are right, with records of any form. */
function checkLines(lines: readonly string[]): void {
  const all = [...LINES.slice(0, 2), ...lines];
  const frames = [encodeFrame(0, [CHECKPOINT]), encodeFrame(1, all)];
  const state = replayed(Buffer.concat(frames));
  let charges = 0;
  for (const line of lines) charges += chargesIn(line);
  if (!state) return;
  demand(state.nextSeq - 1 === charges, 'a journal has another number of charges than lines of them');
}

/** 1 if the line is a charge, whose members must agree; else 0. */
function chargesIn(line: string): number {
  let record: JournalRecord;
  try {
    record = recordOf(line, JOURNAL);
  } catch {
    return 0;
  }
  if (record?.type !== 'charge') return 0;
  const value = JSON.parse(record.text) as { cost?: string; leaseId?: string };
  // The types of members are not checked again: the checksum says that we wrote them.
  if (typeof value.leaseId !== 'string' || !Number.isSafeInteger(record.seq)) return 1;
  demand(
    record.cost === parseDollars(String(value.cost)),
    'a charge costs something else than its text says',
  );
  demand(record.leaseId === value.leaseId, 'a charge belongs to another lease than its text says');
  if (JSON.stringify(JSON.parse(line)) !== line) return 1;
  const paged = pagedChargeOf(line, JOURNAL);
  demand(paged?.seq === record.seq, 'a page of charges has another number');
  demand(paged.leaseId === record.leaseId, 'a page of charges has another lease');
  return 1;
}
