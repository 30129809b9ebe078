/** Which of the processes that announce themselves may be a node: pure decisions, no database. */

/** The start of one process. The journal numbers the starts on it upwards, one process at a time has it. */
export interface ProcessStart {
  /** From 1. */
  start: number;
  /** Of this process alone: tells two copies of one journal folder apart. */
  instanceId: string;
}

/** What is known when a process announces itself. */
export interface Standing {
  /** Of its journal: the last start that was announced; 0 and null before the first one. */
  start: number;
  instanceId: string | null;
  /** The journal of the process that is the node now; null where none is. */
  nodeJournalId: string | null;
  /** Whether that process was heard lately. */
  isHeard: boolean;
}

/** A process that announces itself. One of an earlier release does not number its starts. */
export interface Announced {
  journalId: string;
  process: ProcessStart | null;
}

/**
 * BEGINS: a process that is the node from now on. KNOWN: it is the node already, and this a repetition. OLD:
 * what it says is late, or a later process has its journal or a copy of it. OTHER_LIVES: another process is
 * the node.
 */
export type StartVerdict = 'BEGINS' | 'KNOWN' | 'OLD' | 'OTHER_LIVES';

/**
 * What the process is told. On the same journal a later start is believed at once, since its folder was let
 * go by all earlier ones; on another journal only once the process before it is silent.
 */
export function judgeStart(standing: Standing, { journalId, process }: Announced): StartVerdict {
  const isNode = standing.nodeJournalId === journalId;
  if (process && process.start <= standing.start) {
    const isKnown = process.start === standing.start && process.instanceId === standing.instanceId;
    return isKnown && isNode ? 'KNOWN' : 'OLD';
  }
  if (standing.nodeJournalId !== null && !isNode && standing.isHeard) return 'OTHER_LIVES';
  return 'BEGINS';
}
