/** Flags that the control plane sets in V8, which only warns about a flag that it does not have. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('sets only flags that V8 has', () => {
  const program = readFileSync(join(import.meta.dirname, 'main.ts'), 'utf8');
  const flags = [...program.matchAll(/setFlagsFromString\('--(?:no-)?([a-z-]+)'\)/g)].map(([, name]) => name);
  expect(flags).not.toEqual([]);
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  for (const name of flags) expect(known).toContain(`--${name} (`);
});
