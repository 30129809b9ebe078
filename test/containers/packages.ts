/** Finds the packages that `npm ci --workspace … --omit=dev` installs, from the lock file. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  link?: boolean;
  resolved?: string;
}

/** The folders in node_modules that the workspaces need at run time on this platform, sorted. */
export function packagesOf(root: string, workspaces: readonly string[]): string[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  const found = new Set<string>();
  const visit = (at: string): void => {
    const { dependencies, optionalDependencies, peerDependencies } = lock.packages[at] ?? {};
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const place = resolve(lock.packages, at, name);
      if (place === undefined || found.has(place) || !existsSync(join(root, place))) continue;
      found.add(place);
      visit(place);
    }
  };
  for (const workspace of workspaces) visit(workspace);
  return [...found].toSorted();
}

/** Resolves a package as Node does: in the node_modules of the folder, then of the folders above. */
function resolve(packages: Record<string, Locked>, from: string, name: string): string | undefined {
  for (let at = from; ; at = at.includes('/') ? at.slice(0, at.lastIndexOf('/')) : '') {
    const place = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`;
    if (packages[place]) return place;
    if (at === '') return undefined;
  }
}
