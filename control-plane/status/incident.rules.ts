/** The rules of incidents: which states follow each other, and which values are valid. */
import { UserFailure } from '../graphql/errors.ts';

export type IncidentKind = 'DEGRADATION' | 'OUTAGE' | 'MAINTENANCE';
export type IncidentState =
  | 'INVESTIGATING'
  | 'IDENTIFIED'
  | 'MONITORING'
  | 'SCHEDULED'
  | 'IN_PROGRESS'
  | 'RESOLVED';

/** Maximum length of a title, in characters. */
export const TITLE_LENGTH_MAX = 120;
/** Maximum length of the message of an update, in characters. */
export const MESSAGE_LENGTH_MAX = 4000;
/** Maximum number of updates of one incident. */
export const UPDATES_MAX = 100;
/** Maximum number of models that one incident names. */
const AFFECTED_MAX = 200;

const STATES: Record<'INCIDENT' | 'MAINTENANCE', readonly IncidentState[]> = {
  INCIDENT: ['INVESTIGATING', 'IDENTIFIED', 'MONITORING', 'RESOLVED'],
  MAINTENANCE: ['SCHEDULED', 'IN_PROGRESS', 'RESOLVED'],
};

/** The title without surrounding spaces. Throws REQUIRED or INVALID. */
export function checkTitle(title: string): string {
  return checkText(title, 'title', TITLE_LENGTH_MAX);
}

/** The message without surrounding spaces. Throws REQUIRED or INVALID. */
export function checkMessage(message: string): string {
  return checkText(message, 'message', MESSAGE_LENGTH_MAX);
}

/** Throws INVALID if an incident of this kind cannot have this state. */
export function checkState(kind: IncidentKind, state: IncidentState): void {
  const states = STATES[kind === 'MAINTENANCE' ? 'MAINTENANCE' : 'INCIDENT'];
  if (!states.includes(state))
    throw new UserFailure('INVALID', `Choose one of these states: ${states.join(', ')}.`, 'state');
}

interface Times {
  startsAt: Date;
  endsAt: Date | null;
}

/**
 * Throws INVALID or REQUIRED for impossible times: a maintenance needs an end after its start, and an
 * incident begins in the past and has no planned end.
 */
export function checkTimes(kind: IncidentKind, { startsAt, endsAt }: Times, now: Date): void {
  if (kind === 'MAINTENANCE') {
    if (!endsAt) throw new UserFailure('REQUIRED', 'Enter when the maintenance ends.', 'endsAt');
    if (endsAt <= startsAt)
      throw new UserFailure('INVALID', 'Enter an end that is after the start.', 'endsAt');
    return;
  }
  if (endsAt) throw new UserFailure('INVALID', 'Only a maintenance has a planned end.', 'endsAt');
  if (startsAt > now)
    throw new UserFailure('INVALID', 'Enter a start in the past. Future work is a maintenance.', 'startsAt');
}

/** The names without repetitions. Throws LIMIT_REACHED. */
export function checkAffected<Name extends string>(names: readonly Name[], field: string): Name[] {
  const distinct = [...new Set(names)];
  if (distinct.length > AFFECTED_MAX)
    throw new UserFailure('LIMIT_REACHED', `Name at most ${AFFECTED_MAX}, or none for all.`, field);
  return distinct;
}

function checkText(text: string, field: string, longest: number): string {
  const trimmed = text.trim();
  if (!trimmed) throw new UserFailure('REQUIRED', `Enter a text of at most ${longest} characters.`, field);
  if (trimmed.length > longest)
    throw new UserFailure('INVALID', `Shorten the text to ${longest} characters.`, field);
  if (trimmed.includes('\0')) throw new UserFailure('INVALID', 'Remove the NUL characters.', field);
  return trimmed;
}
