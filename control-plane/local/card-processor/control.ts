/**
 * Calls for tests, with the key of the processor: refunds and disputes that begin at the processor, and the
 * faults of its deliveries.
 */
import { Refusal } from './errors.ts';
import type { Answer } from './api.ts';
import type { Deliveries, Faults } from './deliveries.ts';
import { closeDispute, openDispute, refundPayment } from './taken-back.ts';
import { viewOf } from './things.ts';
import type { Books, Thing } from './things.ts';

const FAULTS: readonly (keyof Faults)[] = ['drop', 'duplicates', 'delayMs', 'reorder'];

interface ControlParts {
  books: Books;
  deliveries: Deliveries;
}

/** Answers `/control/…`; the body is JSON with numbers. */
export function answerControl(
  parts: ControlParts,
  { method, path, body }: { method: string; path: string; body: string },
): Answer {
  try {
    return { status: 200, body: act(parts, `${method} ${path}`, numbersOf(body)) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, body: { error: error.body } };
  }
}

function act({ books, deliveries }: ControlParts, action: string, values: Record<string, number>): unknown {
  if (action === 'GET /control/deliveries') return deliveries.log;
  if (action === 'POST /control/faults') return setFaults(deliveries, values);
  const [, id = '', verb = ''] = /^POST \/control\/([a-z0-9_]+)\/(\w+)$/.exec(action) ?? [];
  const thing = books.things.get(id);
  if (thing) return actOn(books, thing, { verb, cents: values['cents'] });
  throw new Refusal(404, { type: 'invalid_request_error', message: `Unknown: ${action}` });
}

function actOn(books: Books, thing: Thing, { verb, cents }: { verb: string; cents?: number }): unknown {
  const action = `${String(thing['object'])} ${verb}`;
  const amount = cents ?? Number(thing['amount']);
  if (action === 'payment_intent refund') return viewOf(refundPayment(books, thing, { cents: amount }));
  if (action === 'payment_intent dispute') return viewOf(openDispute(books, thing, { cents: amount }));
  if (action === 'dispute win') return viewOf(closeDispute(books, thing, 'won'));
  if (action === 'dispute lose') return viewOf(closeDispute(books, thing, 'lost'));
  throw new Refusal(404, { type: 'invalid_request_error', message: `Unknown: ${action}` });
}

function setFaults({ faults }: Deliveries, values: Record<string, number>): Faults {
  for (const name of FAULTS) faults[name] = values[name] ?? faults[name];
  return faults;
}

/** The members of the body that are numbers of zero or more. Throws Refusal for a body that is no object. */
function numbersOf(body: string): Record<string, number> {
  let parsed: unknown = {};
  try {
    if (body) parsed = JSON.parse(body);
  } catch {
    parsed = null;
  }
  if (typeof parsed !== 'object' || parsed === null)
    throw new Refusal(400, { type: 'invalid_request_error', message: 'Send a JSON object.' });
  const isCount = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;
  return Object.fromEntries(
    Object.entries(parsed).filter((entry): entry is [string, number] => isCount(entry[1])),
  );
}
