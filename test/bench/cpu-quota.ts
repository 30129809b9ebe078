/** Limits the CPU time of single processes with control groups of Linux, version 1 or 2. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Length of the period in which the quota holds, in µs: short, so that pauses stay below 10 ms. */
const PERIOD_US = 10_000;
const VERSION_1 = '/sys/fs/cgroup/cpu';
const VERSION_2 = '/sys/fs/cgroup';

/** The files of the control groups of this machine: where they are, and how a quota is written. */
interface Controller {
  folder: string;
  quota(quotaUs: number): [file: string, text: string][];
}

/**
 * Limits a process with all its threads to a part of one core, in percent. Returns the function that removes
 * the limit once the process has ended. Throws an Error if this machine or this user cannot limit processes.
 */
export function limitCpu(pid: number, percent: number): () => void {
  const { folder, quota } = controller();
  const group = join(folder, `gateway-bench-${pid}`);
  mkdirSync(group);
  for (const [file, text] of quota(Math.round((PERIOD_US * percent) / 100)))
    writeFileSync(join(group, file), text);
  writeFileSync(join(group, 'cgroup.procs'), String(pid));
  return () => rmdirSync(group);
}

function controller(): Controller {
  if (existsSync(join(VERSION_1, 'cpu.cfs_quota_us')))
    return {
      folder: VERSION_1,
      quota: (quotaUs) => [
        ['cpu.cfs_period_us', String(PERIOD_US)],
        ['cpu.cfs_quota_us', String(quotaUs)],
      ],
    };
  if (existsSync(join(VERSION_2, 'cgroup.controllers')))
    return { folder: VERSION_2, quota: (quotaUs) => [['cpu.max', `${quotaUs} ${PERIOD_US}`]] };
  throw new Error('This machine has no control groups for CPU time. Leave out the share.');
}
