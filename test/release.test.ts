/** How the release command changes version numbers and the changelog. */
import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  IMAGE_MENTIONS,
  isNewer,
  withChartVersion,
  withLockVersion,
  withReleasedSection,
  withVersion,
} from '../tools/release-texts.mjs';

const DAY = new Date('2026-12-01T12:00:00Z');

describe('a release', () => {
  it('accepts only versions above the current one', () => {
    const versions = ['0.2.1', '0.3.0', '1.0.0', '0.2.0', '0.1.9', '0.2', 'v0.3.0', undefined];
    expect(versions.map((version) => isNewer(version, '0.2.0'))).toEqual([
      ...[true, true, true],
      ...[false, false, false, false, false],
    ]);
  });

  it('moves the unreleased entries under the version and leaves an empty section behind', () => {
    const before = '# Changelog\n\n## [Unreleased]\n\n### Added\n- A.\n\n## [0.1.0] - 2026-11-21\n\n- B.\n';
    expect(withReleasedSection(before, '0.2.0', DAY)).toBe(
      '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n- A.\n\n' +
        '## [0.1.0] - 2026-11-21\n\n- B.\n',
    );
  });

  it('is refused while nothing is unreleased', () => {
    expect(withReleasedSection('## [Unreleased]\n\n## [0.1.0]\n- B.\n', '0.2.0', DAY)).toBeUndefined();
    expect(withReleasedSection('# Changelog\n', '0.2.0', DAY)).toBeUndefined();
  });

  it('changes the version of each workspace and of references between workspaces', () => {
    const manifest = readFileSync('data-plane/package.json', 'utf8');
    const { version } = JSON.parse(manifest);
    const after = JSON.parse(withVersion(manifest, version, '9.9.9'));
    expect([after.version, after.dependencies['@gateway/shared']]).toEqual(['9.9.9', '9.9.9']);
  });

  it('changes every document that names an image by its version', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    const documents = globSync(['*.md', 'docs/*.md', 'docs/operations/**/*.{yaml,yml,txt,service}']);
    const naming = documents.filter((file) => readFileSync(file, 'utf8').includes(`-plane:${version}`));
    expect(naming.map((file) => file.replaceAll('\\', '/')).toSorted()).toEqual(IMAGE_MENTIONS);
  });

  it('changes the version of the Helm chart and of what it installs', () => {
    const chart = readFileSync('docs/operations/helm/Chart.yaml', 'utf8');
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(withChartVersion(chart, version)).toBe(chart);
    expect(withChartVersion(chart, '9.9.9')).toBe(chart.replaceAll(`ersion: ${version}`, 'ersion: 9.9.9'));
  });

  it('changes the lock file only in the versions of the workspaces', () => {
    const lock = readFileSync('package-lock.json', 'utf8');
    const { version } = JSON.parse(lock);
    expect(withLockVersion(lock, version)).toBe(lock);
    const after = JSON.parse(withLockVersion(lock, '9.9.9'));
    expect([after.version, after.packages['data-plane'].version]).toEqual(['9.9.9', '9.9.9']);
    expect(after.packages['node_modules/fastify']).toEqual(JSON.parse(lock).packages['node_modules/fastify']);
  });
});
