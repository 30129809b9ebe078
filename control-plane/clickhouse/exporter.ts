/**
 * The export of the usage log to ClickHouse. One instance of the control plane exports at a time; repeats do
 * no harm. Writers of the log fill an outbox in their transactions, so the order of commits does not matter:
 * a batch is deleted from the outbox when ClickHouse has stored its rows. A table that is new, lost or of an
 * older shape is filled from the log, while PostgreSQL answers the pages.
 */
import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { compareDays } from './comparison.ts';
import { exportFailures, reasonOf, showState } from './export.metrics.ts';
import { deleteFromOutbox, readLog, readOutbox } from './outbox.ts';
import { activate, giveTurn, noteCompared, noteRebuilt, oldWriters, readState, takeTurn } from './state.ts';
import type { ExportState } from './state.ts';
import type { ClickHouseStore } from './store.ts';
import { createTable, dropTable, isCurrent, newTableName, tableExists } from './table.ts';

const POLL_MS = 1000;
/**
 * How long an instance may export without a sign of life. A statement may take longer: then two instances
 * export for a while, which does no harm.
 */
const TURN_SECONDS = 10;
const COMPARE_EVERY_MS = 24 * 60 * 60 * 1000;
/** Time until the next comparison after one that failed. */
const COMPARE_AGAIN_MS = 10 * 60 * 1000;

interface ExporterParts {
  /** A new database session. */
  em(): EntityManager;
  store: ClickHouseStore;
  log?: ((line: Record<string, unknown>) => void) | undefined;
}

interface Exporter {
  /** Exports until the outbox is empty and the table complete, unless another instance exports. */
  exportDue(): Promise<void>;
  /** Stops the timer, waits for the step in progress, and lets another instance export. */
  stop(): Promise<void>;
}

/** Starts to export every second. */
export function startExporter(parts: ExporterParts): Exporter {
  const holder = randomBytes(8).toString('hex');
  let round: Promise<void> | undefined;
  let isStopping = false;
  let compareFromMs = -Infinity;
  const compare = async (): Promise<void> => {
    if (performance.now() < compareFromMs) return;
    compareFromMs = performance.now() + COMPARE_AGAIN_MS;
    await compareIfDue(parts, () => goOn(parts, holder));
    compareFromMs = -Infinity;
  };
  const exportDue = (): Promise<void> => {
    round ??= exportRound(parts, { holder, compare, isStopping: () => isStopping }).finally(() => {
      round = undefined;
    });
    return round;
  };
  const timer = setInterval(() => {
    exportDue().catch((error: unknown) => {
      exportFailures.inc();
      const message = 'The export to ClickHouse failed. It is tried again in a second; nothing is lost.';
      parts.log?.({ level: 'warn', message, reason: reasonOf(error) });
    });
  }, POLL_MS);
  return {
    exportDue,
    stop: async () => {
      isStopping = true;
      clearInterval(timer);
      await round?.catch(() => undefined);
      await giveTurn(parts.em(), holder).catch(() => undefined);
    },
  };
}

interface Round {
  holder: string;
  compare(): Promise<void>;
  isStopping(): boolean;
}

async function exportRound(parts: ExporterParts, { holder, compare, isStopping }: Round): Promise<void> {
  const { em } = parts;
  try {
    if (!(await takeTurn(em(), holder, TURN_SECONDS))) return;
    await prepare(parts);
    while (!isStopping() && (await takeTurn(em(), holder, TURN_SECONDS)) && (await step(parts)));
    if (!isStopping()) await compare();
  } finally {
    showState(await readState(em()));
  }
}

/** Exports what is due. Returns whether this instance may go on. */
async function goOn(parts: ExporterParts, holder: string): Promise<boolean> {
  while (await takeTurn(parts.em(), holder, TURN_SECONDS)) if (!(await step(parts))) return true;
  return false;
}

/** Makes sure that the table of the export exists and has the shape of this release. */
async function prepare(parts: ExporterParts): Promise<void> {
  const state = await readState(parts.em());
  const isUsable =
    state?.isActive === true && isCurrent(state.table) && (await tableExists(parts.store, state.table));
  if (!isUsable) await restart(parts, state);
}

/** Starts with a new, empty table. */
async function restart({ em, store, log }: ExporterParts, state: ExportState | undefined): Promise<void> {
  const table = newTableName(randomBytes(4).toString('hex'));
  await createTable(store, table);
  await activate(em(), table);
  if (state?.table.startsWith('usage_v')) await dropTable(store, state.table);
  const message = 'The export to ClickHouse starts with an empty table. PostgreSQL answers pages meanwhile.';
  log?.({ level: 'info', message, table });
}

/** Exports a part of the outbox and of the log. Returns whether more is left. */
async function step(parts: ExporterParts): Promise<boolean> {
  const { em, store, log } = parts;
  const state = await readState(em());
  if (!state?.isActive) return false;
  const { table } = state;
  const part = await readOutbox(em());
  if (part) {
    if (part.lines) await store.insert(table, part.lines);
    await deleteFromOutbox(em(), table, part);
  }
  if (state.isComplete) return part !== undefined;
  const writers = await oldWriters(em());
  if (writers === 'restart') await restart(parts, state);
  if (writers !== 'none') return part !== undefined;
  const { lines, last, isEnd } = await readLog(em(), state.rebuilt);
  if (lines) await store.insert(table, lines);
  await noteRebuilt(em(), table, { last, isEnd });
  if (isEnd)
    log?.({ level: 'info', message: 'ClickHouse has the whole usage log, and answers pages.', table });
  return true;
}

async function compareIfDue(
  { em, store, log }: ExporterParts,
  proceed: () => Promise<boolean>,
): Promise<void> {
  const state = await readState(em());
  if (!state?.isActive || !state.isComplete) return;
  const now = Date.now();
  if (state.comparedAt && now - state.comparedAt.getTime() < COMPARE_EVERY_MS) return;
  const differing = await compareDays({ em, store, state, proceed }, new Date(now));
  if (!differing) return;
  await noteCompared(em(), state.table, differing.length);
  const message = 'Days in ClickHouse differ from the ledger. PostgreSQL is right; see the runbook.';
  if (differing.length > 0) log?.({ level: 'error', message, days: differing.slice(0, 10) });
}
