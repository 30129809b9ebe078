/** The client's socket of a realtime session: says in an event what is wrong with a frame that it refuses. */
import { WebSocket } from 'ws';
import { refusalEvent } from './realtime-events.ts';

/** Longest frame of a client, in bytes: 15 MiB of audio is what the original allows. */
export const FRAME_BYTES = 16 * 1024 * 1024;
const FRAME_MEGABYTES = FRAME_BYTES / (1024 * 1024);

/**
 * With which codes the library closes over a frame, before it tells anybody else. The session never uses
 * them. https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1
 */
const REFUSALS = new Map([
  [1002, 'A frame breaks the rules of the WebSocket protocol.'],
  [1007, 'A text frame is not valid UTF-8.'],
  [1009, `A frame is larger than ${FRAME_MEGABYTES} MB. Send audio in smaller pieces.`],
]);

/** A socket whose last event before such a close is the error in the format of the session. */
export class ClientSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    const message = REFUSALS.get(code ?? 0);
    if (message !== undefined && this.readyState === WebSocket.OPEN)
      this.send(refusalEvent({ message, parameter: null }));
    super.close(code, reason);
  }
}
