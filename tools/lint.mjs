// Runs the linters on the repository: `npm run check`. Installs them first by their own lock file.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tools = dirname(fileURLToPath(import.meta.url));
const root = dirname(tools);

// oxlint looks for its type-aware companion on the path.
const path = [join(tools, 'node_modules', '.bin'), process.env.PATH].join(delimiter);

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, stdio: 'inherit', env: { ...process.env, PATH: path } });
  if (status) process.exit(status);
}

// `npm install`, not `npm ci`: some platforms' optional binaries are missing from the registry at these
// versions.
if (!existsSync(join(tools, 'node_modules')))
  run('npm', ['install', '--no-fund', '--no-audit', '--loglevel=error'], tools);

const bin = (name) => join(tools, 'node_modules', '.bin', name);
run(
  bin('oxlint'),
  ['-c', join(tools, 'oxlint.json'), '--quiet', 'shared', 'data-plane', 'control-plane', 'console', 'test'],
  root,
);
run(bin('knip'), ['--config', join(tools, 'knip.json'), '--no-progress'], root);
