/** Errors in the shape of the processor. */
import type { Thing } from './things.ts';

/** The body of an error. */
interface ErrorBody {
  type: 'invalid_request_error' | 'idempotency_error' | 'card_error' | 'api_error';
  message: string;
  code?: string;
  decline_code?: string;
  param?: string;
  payment_intent?: Thing;
}

/** A call that the processor refuses with this status and body. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: ErrorBody;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.body = body;
  }
}

/** 400 for a parameter that is missing or invalid. */
export function invalid(param: string, message: string, code?: string): Refusal {
  return new Refusal(400, { type: 'invalid_request_error', message, param, ...(code && { code }) });
}

/** 404 for an object that does not exist. */
export function missing(kind: string, id: string): Refusal {
  const message = `No such ${kind}: '${id}'`;
  return new Refusal(404, { type: 'invalid_request_error', code: 'resource_missing', param: 'id', message });
}
