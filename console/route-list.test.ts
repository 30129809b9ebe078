/** The list of routes from which the build makes preload links. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { routesIn } from './route-list.ts';

const SOURCES = ['routes.tsx', 'admin-routes.tsx']
  .map((file) => readFileSync(path.join(import.meta.dirname, file), 'utf8'))
  .join('\n');

const PARENT = `const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  component: lazyRouteComponent(() => import('./shell.tsx'), 'Shell'),
});
`;
const route = (member: string): string => `${PARENT}const keys = createRoute({
  getParentRoute: () => shell,
  path: '/keys',
  ${member}
});
`;

describe('the list of routes', () => {
  it('has every path of the console', () => {
    const written = [...SOURCES.matchAll(/\n\s*path: '/g)].length;
    expect(routesIn(SOURCES)).toHaveLength(written);
  });

  it('gives each route the files and texts of its parents', () => {
    const text = route("loader: words('keys', 'wallet'),\n  component: () => import('./keys.tsx'),");
    expect(routesIn(text)).toEqual([
      {
        name: 'keys',
        path: '/keys',
        sources: ['shell.tsx', 'keys.tsx'],
        areas: ['keys', 'wallet'],
        headFirst: false,
      },
    ]);
  });

  it('says which pages show their head first', () => {
    const found = routesIn(SOURCES).filter(({ headFirst }) => headFirst);
    const written = SOURCES.split('headFirst: true').length - 1;
    expect(found.map(({ path: at }) => at)).toContain('/usage');
    expect(found).toHaveLength(written);
  });

  it.each([
    ['options in a variable', `${PARENT}const keys = createRoute(options);`, 'Only 1 of 2 routes'],
    ['options on one line', "createRoute({ getParentRoute: () => root, path: '/keys' })", 'Only 0 of 1'],
    ['an unknown parent', route('').replace('=> shell', '=> frame'), 'no known parent'],
    ['a path from a constant', route('').replace("'/keys'", 'KEYS'), 'neither path nor id'],
    ['an import with other quotes', route('component: () => import("./keys.tsx"),'), 'files of a route'],
    ['a loader without words()', route('loader: loadKeys,'), 'texts of a route'],
  ])('is refused for %s', (_title, text, reason) => {
    expect(() => routesIn(text)).toThrow(reason);
  });
});
