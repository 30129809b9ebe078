/**
 * Requests the first data of a page while its other scripts still load. Runs as a separate script before all
 * others; the GraphQL client then takes the answers from here.
 */
import { PRICING_TEXT } from './pages/pricing/first.ts';
import { VIEWER_TEXT, VISITOR_TEXT } from './pages/shell/first.ts';

const SIGNED_IN = ['/keys', '/quickstart', '/playground', '/wallet', '/pools', '/usage', '/profile'];
const VISITED = ['/pricing', '/compare', '/status', '/privacy-policy', '/help'];

const started = new Map(textsOf(location.pathname).map((text) => [nameOf(text), ask(text)]));

/** The operations that the page at this path sends first; only those without variables. */
function textsOf(pathname: string): string[] {
  const below = (place: string): boolean => pathname === place || pathname.startsWith(`${place}/`);
  if (pathname === '/pricing') return [PRICING_TEXT, VISITOR_TEXT];
  if (VISITED.some(below)) return [VISITOR_TEXT];
  return SIGNED_IN.some(below) ? [VIEWER_TEXT] : [];
}

function nameOf(text: string): string {
  return /query (\w+)/.exec(text)?.[1] ?? '';
}

function ask(query: string): Promise<Response> {
  const answer = fetch('/graphql', {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json' },
    body: JSON.stringify({ operationName: nameOf(query), query }),
  });
  // Prevents an unhandled rejection. The page that takes the answer still receives the error.
  answer.catch(() => undefined);
  return answer;
}

/**
 * The fetch function of the GraphQL client. Returns the early answer of an operation once; every later
 * request goes to the service.
 */
export const fetchOrTake: typeof fetch = (input, init) => {
  const name = typeof init?.body === 'string' ? /^\{"operationName":"(\w+)"/.exec(init.body)?.[1] : undefined;
  const early = name === undefined ? undefined : started.get(name);
  if (name === undefined || !early) return fetch(input, init);
  started.delete(name);
  return early;
};
