/** Decides which process may register as a node. Pure rules without a database. */

/**
 * One start of a node process. Only one process at a time holds a journal. The journal stores how many
 * processes have started on it.
 */
export interface ProcessStart {
  /** Number of this start on the journal, from 1. */
  start: number;
  /** Unique id of the process; distinguishes two copies of one journal folder. */
  instanceId: string;
}

/** Stored state of the node and its journal before a registration. */
export interface RegistrationState {
  /** Number of the last registered start on the journal of the registering process; 0 before the first. */
  start: number;
  /** Process of that start; null before the first. */
  instanceId: string | null;
  /** Journal of the process that is registered as the node; null if no process is registered. */
  nodeJournalId: string | null;
  /** Whether the registered process was seen within OFFLINE_AFTER_MS. */
  isOnline: boolean;
}

/**
 * A process that registers. `process` is null for nodes of older releases, which do not number their starts.
 */
interface RegisteringProcess {
  journalId: string;
  process: ProcessStart | null;
}

/**
 * NEW: the process becomes the node. REPEATED: it is the node already. OUTDATED: the message is late, or a
 * later process has used the journal or a copy of it. OCCUPIED: another process is the node.
 */
export type RegistrationVerdict = 'NEW' | 'REPEATED' | 'OUTDATED' | 'OCCUPIED';

/**
 * Decides whether a process becomes the node. On the same journal a later start replaces the earlier one at
 * once, because it could lock the folder only after the earlier process ended. On another journal, a process
 * replaces the registered process only if the registered process is offline.
 */
export function decideRegistration(
  state: RegistrationState,
  { journalId, process }: RegisteringProcess,
): RegistrationVerdict {
  const isJournalOfNode = state.nodeJournalId === journalId;
  if (process && process.start <= state.start) {
    const isSame = process.start === state.start && process.instanceId === state.instanceId;
    return isSame && isJournalOfNode ? 'REPEATED' : 'OUTDATED';
  }
  if (state.nodeJournalId !== null && !isJournalOfNode && state.isOnline) return 'OCCUPIED';
  return 'NEW';
}
