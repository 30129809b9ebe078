/**
 * Prepares another commit of this repository, so that its node can be measured beside that of this checkout.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Another commit in a folder of its own. */
export interface OtherCommit {
  /** Path of the node's program from the root of this checkout. */
  nodeEntry: string;
  /** Removes the folder. */
  remove(): void;
}

/**
 * Checks the commit out under `.bench`, and installs the packages of its node. Throws if it does not exist.
 */
export function prepareCommit(reference: string): OtherCommit {
  const commit = git('rev-parse', '--verify', `${reference}^{commit}`).trim();
  const folder = join(ROOT, '.bench', `commit-${commit.slice(0, 12)}`);
  if (!existsSync(folder)) git('worktree', 'add', '--detach', folder, commit);
  execFileSync(process.execPath, ['tools/setup.mjs', 'data-plane'], { cwd: folder, stdio: 'inherit' });
  return {
    nodeEntry: join(relative(ROOT, folder), 'data-plane', 'main.ts'),
    remove: () => void git('worktree', 'remove', '--force', folder),
  };
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
}
