/**
 * The program of a node. With one worker it is the node; with several it supervises one process for each,
 * which run this program, too.
 */
import { createLog } from './log.ts';
import type { Log } from './log.ts';
import { environment } from './run/environment.ts';
import { fatal } from './run/fatal.ts';
import { ParentProcess } from './run/parent.ts';
import { readNodeSettings } from './node/node-settings.ts';
import type { NodeSettings } from './node/node-settings.ts';
import { announceReady, runNode } from './run/run-node.ts';
import { settleFormerWorker } from './run/settle-former-worker.ts';
import { taskOf } from './run/arguments.ts';
import { formerWorkers } from './workers/worker.ts';
import { superviseNode } from './run/supervisor.ts';

await main().catch((error: unknown) => fatal(error));

async function main(): Promise<void> {
  const parent = new ParentProcess();
  const task = taskOf(process.argv.slice(2));
  const settings = readNodeSettings(environment());
  const worker = task?.type === 'settle' ? task.number : task?.worker.number;
  const log = createLog({ instance: settings.name, worker, lowest: settings.logLevel });
  if (task?.type === 'settle') return settleFormerWorker({ settings, log, parent, number: task.number });
  if (task) return runNode({ settings, log, parent, task });
  const { workers, dataDir } = settings;
  if (workers > 1 || formerWorkers(dataDir, workers).length > 0) return supervise({ settings, log, parent });
  await runNode({ settings, log, parent });
}

interface Supervised {
  settings: NodeSettings;
  log: Log;
  parent: ParentProcess;
}

/** Supervises the workers until all have stopped, then ends the process. */
async function supervise({ settings, log, parent }: Supervised): Promise<void> {
  const onReady = (port: number, revision: number): void => announceReady(log, port, revision);
  const supervisor = await superviseNode({ settings, log, program: import.meta.filename, onReady });
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => supervisor.stop(settings.drainMs));
  parent.whenGone(() => supervisor.stop(0));
  await supervisor.ended;
  process.exit(0);
}
