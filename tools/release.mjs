/**
 * Makes a release: `npm run release -- 0.3.0`. Checks that the API breaks no client of the last release,
 * writes version and date into manifests, lock file, documents and CHANGELOG.md, writes a bill of materials,
 * commits and tags. With `--images` it builds both images, labelled with version and commit. Pushes nothing.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  BILL_OF_MATERIALS,
  IMAGE_MENTIONS,
  isNewer,
  withChartVersion,
  withLockVersion,
  withReleasedSection,
  withVersion,
  withoutDevelopment,
} from './release-texts.mjs';

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const MANIFESTS = ['.', 'shared', 'control-plane', 'data-plane', 'console'].map((folder) =>
  path.join(folder, 'package.json'),
);
const CHART = 'docs/operations/helm/Chart.yaml';
const IMAGES = ['control-plane', 'data-plane'];
const CHANGELOG = 'CHANGELOG.md';
const LOCK = 'package-lock.json';

const [version, ...options] = process.argv.slice(2);
const { version: current } = JSON.parse(read('package.json'));

checkArguments();
run('node_modules/.bin/node', ['dist/control-plane/schema/release-schema.js']);
writeVersion();
writeBillOfMaterials();
run('git', ['commit', '--all', '--quiet', '--message', `release: ${version}`]);
run('git', ['tag', '--annotate', `v${version}`, '--message', `Version ${version}`]);
if (options.includes('--images')) IMAGES.forEach(buildImage);
console.log(`Released ${version} as tag v${version}. Push with: git push --follow-tags`);

function checkArguments() {
  if (!isNewer(version, current))
    fail(`Name a version above ${current}, for example: npm run release -- 9.9.9 [--images]`);
  if (options.some((option) => option !== '--images')) fail('The only option is --images.');
  if (output('git', ['status', '--porcelain']) !== '')
    fail('The work tree has changes. Commit them first: a release is made of committed files.');
}

function writeVersion() {
  const changelog = withReleasedSection(read(CHANGELOG), version, new Date());
  if (!changelog) fail(`${CHANGELOG} has nothing under [Unreleased]. Describe the changes there first.`);
  write(CHANGELOG, changelog);
  for (const file of MANIFESTS) write(file, withVersion(read(file), current, version));
  write(LOCK, withLockVersion(read(LOCK), version));
  for (const file of IMAGE_MENTIONS)
    write(file, read(file).replaceAll(`-plane:${current}`, `-plane:${version}`));
  write(CHART, withChartVersion(read(CHART), version));
}

/** Writes the CycloneDX bill of materials of this release, from the lock file alone, into dist/. */
function writeBillOfMaterials() {
  const text = withoutDevelopment(output('npm', BILL_OF_MATERIALS));
  mkdirSync(path.join(ROOT, 'dist'), { recursive: true });
  const file = `dist/gateway-${version}.cdx.json`;
  write(file, text);
  console.log(`Bill of materials: ${file}`);
}

function buildImage(plane) {
  const revision = output('git', ['rev-parse', 'HEAD']).trim();
  run('docker', [
    ...['build', '--file', `${plane}/Dockerfile`, '--tag', `gateway-${plane}:${version}`],
    ...['--build-arg', `VERSION=${version}`, '--build-arg', `REVISION=${revision}`, '.'],
  ]);
}

function read(file) {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

function write(file, text) {
  writeFileSync(path.join(ROOT, file), text);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (error || status !== 0) fail(`"${command} ${args[0]}" failed. The release is not complete.`);
}

function output(command, args) {
  const { status, stdout } = spawnSync(command, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) fail(`"${command} ${args[0]}" failed. The release is not complete.`);
  return stdout;
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
