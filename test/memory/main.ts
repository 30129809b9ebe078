/**
 * `npm run memory`: the evaluation of Personal Intelligence with the deterministic extractor, or with a real
 * model: `npm run memory -- --url https://api.example.com/v1 --key KEY --model NAME`. Prints the tables; the
 * mistakes are in `.bench/memory.json`. Exits with 1 if a threshold is missed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..');
const TABLES = join(ROOT, '.bench', 'memory.md');

const { values } = parseArgs({
  options: { url: { type: 'string' }, key: { type: 'string' }, model: { type: 'string' } },
});
if (values.url && !(values.key && values.model)) throw new Error('Give --key and --model with --url.');
const { url: MEMORY_URL, key: MEMORY_KEY, model: MEMORY_MODEL } = values;
rmSync(TABLES, { force: true });
const vitest = spawn(
  process.execPath,
  [join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'), 'run', 'test/memory/evaluation.proof.test.ts'],
  {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...(MEMORY_URL && { MEMORY_URL, MEMORY_KEY, MEMORY_MODEL }) },
  },
);
const [status] = (await once(vitest, 'exit')) as [number | null];
if (existsSync(TABLES)) process.stdout.write(readFileSync(TABLES, 'utf8'));
process.exitCode = status ?? 1;
