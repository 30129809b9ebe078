/**
 * Asks for the first data of a page while the scripts that show it are still on their way. A script of its
 * own that runs before all others; the client of the pages then takes the answers from here.
 */
import { PRICING_TEXT } from './pages/pricing/first.ts';
import { VIEWER_TEXT, VISITOR_TEXT } from './pages/shell/first.ts';

const SIGNED_IN = ['/keys', '/playground', '/wallet', '/pools', '/usage', '/profile'];
const VISITED = ['/pricing', '/privacy-policy', '/help'];

const started = new Map(textsOf(location.pathname).map((text) => [nameOf(text), ask(text)]));

/** The operations without variables that the page of this address asks for as soon as it is shown. */
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
  // Whoever takes the answer is told that there is none; until then nobody listens.
  answer.catch(() => undefined);
  return answer;
}

/**
 * Fetches for the GraphQL client: an operation that was begun here is answered from there, once; whatever is
 * asked for again goes to the service.
 */
export const fetchOrTake: typeof fetch = (input, init) => {
  const name = typeof init?.body === 'string' ? /^\{"operationName":"(\w+)"/.exec(init.body)?.[1] : undefined;
  const early = name === undefined ? undefined : started.get(name);
  if (name === undefined || !early) return fetch(input, init);
  started.delete(name);
  return early;
};
