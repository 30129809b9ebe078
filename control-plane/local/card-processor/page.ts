/** The pages of the processor as HTML: paying a session, confirming a payment, and receipts. */
import type { Thing } from './things.ts';

const PLAY_MONEY = 'Play money: no card is charged';

/** Style of all pages. Its hash is in the content security policy. */
export const STYLE = `
  :root { color-scheme: light dark; }
  body { margin: 0; font: 16px/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText; }
  main { max-width: 26rem; margin: 8vh auto; padding: 0 1.25rem; }
  .play { border: 2px dashed #b45309; border-radius: 8px; padding: .75rem 1rem; font-weight: 600; }
  h1 { font-size: 1.25rem; margin: 1.5rem 0 0; }
  .amount { font-size: 2.25rem; font-weight: 600; margin: 0 0 1rem; }
  form { display: grid; gap: .625rem; }
  button { font: inherit; padding: .625rem 1rem; border-radius: 8px; border: 1px solid #888; cursor: pointer;
    background: transparent; color: inherit; text-align: left; }
  button.main { background: #1d4ed8; border-color: #1d4ed8; color: #fff; font-weight: 600; }
  small { display: block; opacity: .8; font-weight: 400; }
  .error { color: #b91c1c; font-weight: 600; }
  @media (prefers-color-scheme: dark) { .error { color: #fca5a5; } }
`;

interface Choice {
  action: string;
  label: string;
  hint: string;
}

const PAY: readonly Choice[] = [
  { action: 'pay', label: 'Pay', hint: 'The card of the demo (4242) is accepted.' },
  { action: 'authenticate', label: '3-D Secure', hint: 'The bank asks you to confirm the payment first.' },
  { action: 'decline', label: 'Decline', hint: 'The bank declines the card. You can try again.' },
  { action: 'leave', label: 'Leave', hint: 'Goes back without paying.' },
];
const CONFIRM: readonly Choice[] = [
  { action: 'confirm', label: 'Confirm the payment', hint: 'The bank accepts it (card 3184).' },
  { action: 'decline', label: 'Refuse', hint: 'The bank declines the payment.' },
];

/** The page of an open session. `declined`: the last attempt was declined. */
export function payPage(session: Thing, { declined }: { declined: boolean }): string {
  const notice = declined ? '<p class="error" role="alert">The card was declined. Nothing was paid.</p>' : '';
  const saved = session['_saves_card'] ? '<p>The card of the demo is saved for automatic top-ups.</p>' : '';
  return page(
    'Demo checkout',
    `<h1>${escape(session['_product'])}</h1><p class="amount">${amountOf(session)}</p>
    ${notice}${saved}${formOf(PAY)}`,
  );
}

/** The page on which the bank asks the customer to confirm (3-D Secure). */
export function confirmPage(session: Thing): string {
  return page('Demo bank', `<h1>Confirm ${amountOf(session)}</h1>${formOf(CONFIRM)}`);
}

/** The page of a session that can no longer be paid. */
export function closedPage(session: Thing): string {
  const isPaid = session['payment_status'] === 'paid';
  const words = isPaid ? 'This payment was made.' : 'This page has expired. Nothing was paid.';
  const back = escape(session[isPaid ? 'success_url' : 'cancel_url']);
  return page('Demo checkout', `<h1>${words}</h1><p><a href="${back}">Go back</a></p>`);
}

/** The receipt of a payment. */
export function receiptPage(payment: Thing): string {
  const at = new Date(Number(payment['created']) * 1000).toISOString().slice(0, 10);
  return page(
    'Demo receipt',
    `<h1>Receipt</h1><p class="amount">${amountOf(payment)}</p><p>${at}, payment ${escape(payment.id)}</p>`,
  );
}

/** A page with one sentence. */
export function messagePage(words: string): string {
  return page('Demo checkout', `<h1>${escape(words)}</h1>`);
}

function page(title: string, content: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} – ${PLAY_MONEY}</title>
<style>${STYLE}</style></head><body><main><p class="play">${PLAY_MONEY}</p>
${content}</main></body></html>`;
}

function formOf(choices: readonly Choice[]): string {
  const buttons = choices.map(({ action, label, hint }, at) => {
    const look = at === 0 ? ' class="main"' : '';
    return `<button name="action" value="${action}"${look}>${label}<small>${hint}</small></button>`;
  });
  return `<form method="post">${buttons.join('\n')}</form>`;
}

function amountOf(thing: Thing): string {
  const cents = Number(thing['amount_total'] ?? thing['amount']);
  return `${(cents / 100).toFixed(2)} ${escape(String(thing['currency']).toUpperCase())}`;
}

function escape(value: unknown): string {
  const NAMES: Readonly<Record<string, string>> = {
    ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;' },
    ...{ '"': '&quot;', "'": '&#39;' },
  };
  return (typeof value === 'string' ? value : '').replace(/[&<>"']/g, (letter) => NAMES[letter] ?? letter);
}
