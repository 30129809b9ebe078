/** Serves the pages that a customer sees: the buttons of an open session, and receipts. */
import { createHash } from 'node:crypto';
import { closedPage, confirmPage, messagePage, payPage, receiptPage, STYLE } from './page.ts';
import { declineSession, expireSession, paySession } from './payments.ts';
import { now } from './things.ts';
import type { Books, Thing } from './things.ts';

/** Answer to a browser: a page, or an address to go to. */
export interface PageAnswer {
  status: number;
  headers: Record<string, string>;
  html: string;
}

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Answers a page; undefined for a path that is none. A POST is a button that the customer pressed. */
export function answerPage(
  books: Books,
  { method, path, body }: { method: string; path: string; body: string },
): PageAnswer | undefined {
  const [, kind, id = ''] = /^\/(pay|receipts)\/([a-z0-9_]+)$/.exec(path) ?? [];
  if (!kind) return undefined;
  const thing = books.things.get(id);
  if (kind === 'receipts' && thing?.['object'] === 'payment_intent') return html(200, receiptPage(thing));
  if (kind !== 'pay' || thing?.['object'] !== 'checkout.session')
    return html(404, messagePage('There is no such payment.'));
  expireLate(books, thing);
  if (thing['status'] !== 'open') return answerClosed(thing, method);
  if (method !== 'POST') return html(200, payPage(thing, { declined: false }), thing);
  return press(books, thing, new URLSearchParams(body).get('action'));
}

/** Closes the session if its time is over. */
export function expireLate(books: Books, session: Thing): void {
  if (session['status'] === 'open' && Number(session['expires_at']) <= now()) expireSession(books, session);
}

function press(books: Books, session: Thing, action: string | null): PageAnswer {
  if (action === 'pay') paySession(books, session);
  else if (action === 'confirm') paySession(books, session, { card: 'authenticated' });
  else if (action === 'authenticate') return html(200, confirmPage(session), session);
  else if (action === 'leave') return lead(session['cancel_url']);
  else if (action === 'decline') {
    declineSession(books, session);
    return html(402, payPage(session, { declined: true }), session);
  } else return html(400, messagePage('Press one of the buttons.'));
  return lead(session['success_url']);
}

/** A second press of Pay leads back like the first one, and pays nothing. */
function answerClosed(session: Thing, method: string): PageAnswer {
  const isPaid = session['payment_status'] === 'paid';
  if (method === 'POST' && isPaid) return lead(session['success_url']);
  return html(isPaid ? 200 : 410, closedPage(session));
}

function lead(address: unknown): PageAnswer {
  const answer = html(303, '');
  return { ...answer, headers: { ...answer.headers, location: String(address) } };
}

/** Browsers apply form-action to redirects too, so the session's addresses to lead back to are allowed. */
function html(status: number, text: string, session?: Thing): PageAnswer {
  const backs = session ? [originOf(session['success_url']), originOf(session['cancel_url'])] : [];
  const targets = ["'self'", ...new Set(backs)].join(' ');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action ${targets}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    status,
    html: text,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy.join('; '),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
    },
  };
}

function originOf(address: unknown): string {
  return new URL(String(address)).origin;
}
