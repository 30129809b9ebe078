/**
 * Requests the first data of a page while its other scripts still load. Runs as a separate script before all
 * others; the GraphQL client then takes the answers from here.
 */
import { first as firstOfOverview } from './pages/admin/overview/first.ts';
import { first as firstOfQuickstart } from './pages/connect/first.ts';
import { first as firstOfKeys } from './pages/keys/first.ts';
import { PRICING_TEXT } from './pages/pricing/first.ts';
import { ADMIN_FRAME_TEXT, type FirstOperation, VIEWER_TEXT, VISITOR_TEXT } from './pages/shell/first.ts';
import { REGISTER_TEXT, SIGN_IN_TEXT } from './pages/sign-in/first.ts';
import { first as firstOfUsage } from './pages/usage/first.ts';

const SIGNED_IN = ['/keys', '/quickstart', '/playground', '/wallet', '/pools', '/usage', '/profile'];
const VISITED = ['/pricing', '/compare', '/status', '/privacy-policy', '/help'];

/** The first operations of pages, at their address without parameters. */
const PAGES: Readonly<Record<string, (now: number) => FirstOperation[]>> = {
  '/keys': firstOfKeys,
  '/quickstart': firstOfQuickstart,
  '/usage': firstOfUsage,
  '/admin/overview': firstOfOverview,
};
/** Maximum age of an answer, in ms. After that the page requests its data again. */
const FRESH_MS = 10_000;

interface Early {
  /** The variables as a text. The client sorts their names on all levels, and so do the files `first.ts`. */
  variables: string;
  answer: Promise<Response>;
}

/** The requests that nobody has taken yet, by the names of their operations. */
const started = new Map<string, Early>();

let sentForm: HTMLFormElement | undefined;
document.addEventListener('submit', noteForm);
document.addEventListener('input', forgetForm);

for (const text of textsOf(location.pathname)) ask({ text });
if (location.search === '') PAGES[location.pathname]?.(Date.now()).forEach(ask);

/** The first operations without variables at this path: those of the frame, or of the page. */
function textsOf(pathname: string): string[] {
  const below = (place: string): boolean => pathname === place || pathname.startsWith(`${place}/`);
  if (pathname === '/sign-in') return [SIGN_IN_TEXT];
  if (pathname === '/register') return [REGISTER_TEXT];
  if (pathname === '/pricing') return [PRICING_TEXT, VISITOR_TEXT];
  if (below('/admin')) return [ADMIN_FRAME_TEXT];
  if (VISITED.some(below)) return [VISITOR_TEXT];
  return SIGNED_IN.some(below) ? [VIEWER_TEXT] : [];
}

function ask({ text, variables = {} }: FirstOperation): void {
  const operationName = /query (\w+)/.exec(text)?.[1] ?? '';
  const answer = fetch('/graphql', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ operationName, query: text, variables }),
  });
  started.set(operationName, { variables: JSON.stringify(variables), answer });
  const forgetLater = () => setTimeout(() => started.delete(operationName), FRESH_MS);
  // Handles a rejection, too. The page that takes the answer still receives the error.
  answer.then(forgetLater, forgetLater);
}

function noteForm({ target }: Event): void {
  if (target instanceof HTMLFormElement) sentForm = target;
}

/** Text that is typed afterwards may be incomplete, so the visitor sends it. */
function forgetForm(): void {
  sentForm = undefined;
}

/** Notes no more forms: from now on the page handles them. */
export function stopNotingForms(): void {
  document.removeEventListener('submit', noteForm);
  document.removeEventListener('input', forgetForm);
}

/**
 * The form that the visitor has sent before the scripts of its page arrived; undefined if there is none, or
 * if the page no longer shows it. The page sends that form again. Later calls return undefined.
 */
export function takeEarlyForm(): HTMLFormElement | undefined {
  const form = sentForm;
  sentForm = undefined;
  return form?.isConnected === true ? form : undefined;
}

/** Forgets all early answers. Call this at sign-in and sign-out, before a mutation, and after a failure. */
export function forgetEarly(): void {
  started.clear();
}

/**
 * The fetch function of the GraphQL client. Returns the early answer of an operation with the same variables
 * once; every later request goes to the service.
 */
export const fetchOrTake: typeof fetch = (input, init) => {
  const body = typeof init?.body === 'string' ? init.body : '';
  const name = /^\{"operationName":"(\w+)"/.exec(body)?.[1];
  if (name === undefined) return fetch(input, init);
  const early = started.get(name);
  started.delete(name);
  const isSame = early && JSON.stringify(JSON.parse(body).variables ?? {}) === early.variables;
  return isSame ? early.answer : fetch(input, init);
};
