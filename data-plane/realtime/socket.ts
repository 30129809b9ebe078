/** The WebSocket to the client of a realtime session: explains in an event why a frame is refused. */
import { WebSocket } from 'ws';
import { refusalEvent } from './events.ts';

/** Maximum size of a client's frame, in bytes. OpenAI allows events with 15 MiB of audio. */
export const FRAME_BYTES = 16 * 1024 * 1024;
const FRAME_MIB = FRAME_BYTES / (1024 * 1024);

/**
 * Close codes with which the WebSocket library refuses a frame. It calls `close` before it emits `error`.
 * https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1
 */
const REFUSALS = new Map([
  [1002, 'A frame violates the WebSocket protocol. Use a WebSocket client library.'],
  [1007, 'A text frame is not valid UTF-8. Encode it as UTF-8.'],
  [1008, 'A message has too many frames or network packets. Send it in fewer, larger ones.'],
  [1009, `A frame is larger than ${FRAME_MIB} MiB. Send audio in smaller pieces.`],
]);

/**
 * Sends an error event in the session's format before the library closes with a code of REFUSALS. The library
 * gives no reason. The session has sent its own event, and gives an empty reason.
 */
export class ClientSocket extends WebSocket {
  override close(code?: number, reason?: string | Buffer): void {
    const message = REFUSALS.get(code ?? 0);
    if (message !== undefined && reason === undefined && this.readyState === WebSocket.OPEN)
      this.send(refusalEvent({ message, parameter: null }));
    super.close(code, reason);
  }
}
