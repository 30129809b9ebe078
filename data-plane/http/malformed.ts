/** Answers input that is not a complete HTTP request, so that its path and key are unknown. */
import type { Socket } from 'node:net';
import { CORS_HEADERS } from './arrival.ts';
import { newRequestId } from '../call/timed-id.ts';

interface Refusal {
  status: string;
  code: string;
  message: string;
}

/** Codes of Node's HTTP parser and server: https://nodejs.org/api/errors.html */
const REFUSALS: Record<string, Refusal> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'invalid_request',
    message: 'The request headers are larger than 16 KiB. Send fewer or shorter ones.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'request_timeout',
    message: 'The request did not arrive in time. Send it again.',
  },
};
const MALFORMED: Refusal = {
  status: '400 Bad Request',
  code: 'invalid_request',
  message: 'The request is not valid HTTP. Check its request line and headers.',
};

/** Sends an error in the chat format, with a request id, and closes the connection. */
export function answerMalformed(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, code, message } = REFUSALS[error.code ?? ''] ?? MALFORMED;
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code } });
  const headers = {
    ...CORS_HEADERS,
    'x-request-id': newRequestId(),
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
