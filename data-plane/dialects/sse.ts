/** Server-sent events. https://html.spec.whatwg.org/multipage/server-sent-events.html */
import { writeJson } from './exact-json.ts';

/** One event. `event` is undefined if the stream did not name it. */
export interface SseFrame {
  event?: string;
  data: string;
}

/** Encodes an event whose data is a JSON value. */
export function writeJsonFrame(value: unknown, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`;
  return `${name}data: ${writeJson(value)}\n\n`;
}
