/** The child processes of a process, on Linux. */
import { readdirSync, readFileSync } from 'node:fs';

/**
 * Ids of processes whose parent is `pid`, by age.
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
export function childrenOf(pid: number): number[] {
  const children = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return parent === pid ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
  return children.toSorted((one, other) => one - other);
}
