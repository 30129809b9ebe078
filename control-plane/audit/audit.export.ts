/**
 * The audit log as lines of JSON, oldest first: each line has a position, after which a client can resume. A
 * client that follows the log also receives new events as they are committed.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { auditEventsAfter } from './audit.service.ts';
import type { ExactAuditRow } from './audit.service.ts';

/** Events per query. */
const PAGE_ROWS = 500;
/** Line that is sent to a follower while nothing happens, so that no proxy closes the connection. */
const EMPTY_LINE = '\n';

/** The part of the log that a client reads. */
export interface AuditExport {
  /** A new session for each page, so that a slow client holds no connection. */
  em(): EntityManager;
  /** Position of the last event that the client has; `0` for none. */
  after: string;
  /** Waits until it is time to look for new events; null ends the export after the newest event. */
  pause: (() => Promise<Pause>) | null;
}

/** How a pause ended: look for new events, send an empty line first, or end the export. */
export type Pause = 'LOOK' | 'SPEAK' | 'END';

/** The chunks of the export. A page is queried only when its chunk is read. */
export async function* auditLines({ em, after, pause }: AuditExport): AsyncGenerator<string> {
  for (let position = after; ;) {
    const rows = await auditEventsAfter(em(), position, PAGE_ROWS);
    position = rows.at(-1)?.seq ?? position;
    if (rows.length > 0) yield rows.map(lineOf).join('');
    if (rows.length === PAGE_ROWS) continue;
    const next = pause ? await pause() : 'END';
    if (next === 'END') return;
    if (next === 'SPEAK') yield EMPTY_LINE;
  }
}

/** One event. The names are those of the API's AuditEvent, and `position`. */
function lineOf(row: ExactAuditRow): string {
  const { seq: position, id, atText: at, actorKind, actorId, actorLabel, ...others } = row;
  const { action, targetType, targetId, before, after, reason, ip, requestId, prevHash, hash } = others;
  const actor = { kind: actorKind, id: actorId, label: actorLabel };
  const event = { position, id, at, actor, action, targetType, targetId, before, after };
  return `${JSON.stringify({ ...event, reason, ip, requestId, prevHash, hash })}\n`;
}
