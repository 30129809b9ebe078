/** Server-sent events: bytes ⇄ frames, incremental, no I/O. https://html.spec.whatwg.org/multipage/server-sent-events.html */

/** One event. `event` is undefined where the stream named none. */
export interface SseFrame { event?: string; data: string }
