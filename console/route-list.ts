/** Lists the routes of the console from their source text, for the preload links of the build. */

/** One page, with everything that it needs from its parent routes. */
export interface Route {
  /** Name of the variable that holds the route; undefined if it is an item of a list. */
  name: string | undefined;
  /** Path pattern from the root. */
  path: string;
  /** Files of the page's own code, relative to this folder. */
  sources: string[];
  /** Areas of texts that the page loads. */
  areas: string[];
  /** Whether the page shows its head before it is known who is signed in. */
  headFirst: boolean;
}

/** Name of the route without a parent. */
const ROOT = 'root';

/**
 * The routes that have a path, in the order of the text. A route must follow its parent. Throws an Error for
 * a route that is written in a form that this function does not know: its page would load slowly, and
 * nobody would notice.
 */
export function routesIn(text: string): Route[] {
  const found = [...text.matchAll(/(?:const (\w+) = )?createRoute\(\{(.*?)\n\s*\}\)/gs)];
  const routes: Route[] = [];
  for (const [, name, body = ''] of found) routes.push(readRoute(name, body, routes));
  const written = text.split('createRoute(').length - 1;
  if (found.length !== written)
    throw new Error(`Only ${found.length} of ${written} routes could be read. ${ADVICE}`);
  return routes.filter(({ path }) => path !== '');
}

const ADVICE = 'Write each route as `createRoute({ … })` with one member per line, or extend route-list.ts.';

function readRoute(name: string | undefined, body: string, earlier: readonly Route[]): Route {
  const parentName = /getParentRoute: \(\) => (\w+)/.exec(body)?.[1];
  const parent = earlier.find((route) => route.name !== undefined && route.name === parentName);
  if (!parent && parentName !== ROOT) throw new Error(`A route has no known parent:${body}\n${ADVICE}`);
  const path = /\bpath: '([^']*)'/.exec(body)?.[1];
  if (path === undefined && !/\bid: '/.test(body))
    throw new Error(`A route has neither path nor id:${body}\n${ADVICE}`);
  const sources = [...body.matchAll(/import\('\.\/([^']+)'\)/g)].map(([, source = '']) => source);
  const areas = [...body.matchAll(/words\(([^)]*)\)/g)].flatMap(([, list = '']) => list.match(/\w+/g) ?? []);
  if (sources.length !== body.split('import(').length - 1)
    throw new Error(`The files of a route could not be read:${body}\n${ADVICE}`);
  if (areas.length === 0 && body.includes('loader:'))
    throw new Error(`The texts of a route could not be read:${body}\n${ADVICE}`);
  return {
    name,
    path: `${parent?.path ?? ''}${path ?? ''}`,
    sources: [...(parent?.sources ?? []), ...sources],
    areas: [...(parent?.areas ?? []), ...areas],
    headFirst: body.includes('headFirst: true'),
  };
}
