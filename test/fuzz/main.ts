/**
 * Coverage-guided fuzzing: `npm run fuzz -- --target T --minutes M [--seed N]`, or `--all` for all targets,
 * which share the minutes. Crashes are written to `test/fuzz/crashes/T/`, where each file is a test. Exits
 * with 1 after a crash.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Crash } from './crash.ts';
import { hunt } from './hunt.ts';
import type { Progress } from './hunt.ts';
import { TARGETS } from './target.ts';
import type { TargetName } from './target.ts';

const MINUTE_MS = 60_000;
const NAME_LENGTH = 12;

const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    all: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '1' },
    inputs: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const targets = values.all ? TARGETS : TARGETS.filter((name) => name === values.target);
if (targets.length === 0) {
  process.stderr.write(`Name a target with --target, or use --all. Targets: ${TARGETS.join(', ')}\n`);
  process.exit(2);
}
const milliseconds = (Number(values.minutes) * MINUTE_MS) / targets.length;
for (const target of targets) await fuzz(target);

async function fuzz(target: TargetName): Promise<void> {
  const inputs = values.inputs === undefined ? {} : { inputs: Number(values.inputs) };
  const options = { target, milliseconds, seed: Number(values.seed), recorded: true, ...inputs };
  const { progress, crashes } = await hunt(options, (now) => tell(target, now));
  tell(target, progress);
  for (const crash of crashes) keep(target, crash);
  if (crashes.length > 0) process.exitCode = 1;
}

function tell(target: TargetName, progress: Progress): void {
  const { inputs, seconds, reached, counters, corpus, slowestMs } = progress;
  const perSecond = Math.round(inputs / Math.max(seconds, 0.001));
  process.stdout.write(
    `${target}: ${inputs} inputs in ${seconds.toFixed(0)} s (${perSecond}/s), ` +
      `${reached} of ${counters} counters reached, corpus ${corpus}, slowest ${slowestMs.toFixed(0)} ms\n`,
  );
}

function keep(target: TargetName, { input, signature, text }: Crash): void {
  const folder = join(import.meta.dirname, 'crashes', target);
  mkdirSync(folder, { recursive: true });
  const name = createHash('sha256').update(input).digest('hex').slice(0, NAME_LENGTH);
  writeFileSync(join(folder, name), input);
  process.stdout.write(`${target}: CRASH ${signature}\n  crashes/${target}/${name}\n${text}\n`);
}
