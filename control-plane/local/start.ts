/** The program of `npm start`: runs a whole gateway until Ctrl-C. */
import path from 'node:path';
import { readEnvironment } from '../process/environment.ts';
import { parseSettings } from './settings.ts';
import { type Programs, Supervisor } from './supervisor.ts';

const ROOT = path.resolve(import.meta.dirname, '..', '..', '..');
const PROGRAMS: Programs = {
  control: ['--enable-source-maps', path.join(ROOT, 'dist', 'control-plane', 'main.js')],
  node: [path.join(ROOT, 'data-plane', 'main.ts')],
  demo: [path.join(import.meta.dirname, 'demo-upstream.js')],
  processor: [path.join(import.meta.dirname, 'card-processor', 'main.js')],
};

/** Exits with 0 after a requested stop, and with 1 and a message if the gateway cannot run. */
async function main(): Promise<void> {
  let ending = false;
  const end = async (code: number): Promise<void> => {
    if (ending) return;
    ending = true;
    await supervisor.stop();
    process.exit(code);
  };
  const fail = (error: unknown): void => {
    if (!ending) print(error instanceof Error ? error.message : String(error));
    void end(1);
  };
  const environment = { ...readEnvironment(), CONSOLE_FOLDER: path.join(ROOT, 'dist', 'console') };
  const supervisor = new Supervisor({ programs: PROGRAMS, environment, print, onFailure: fail });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end(0));
  try {
    const announcement = await supervisor.start(parseSettings(environment));
    process.stdout.write(`${announcement}\n`);
  } catch (error) {
    fail(error);
  }
}

function print(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
}

await main().catch((error: unknown) => {
  print(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
