/** How the release command changes version numbers and the changelog. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isNewer, withLockVersion, withReleasedSection, withVersion } from '../tools/release-texts.mjs';

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

  it('changes the lock file only in the versions of the workspaces', () => {
    const lock = readFileSync('package-lock.json', 'utf8');
    const { version } = JSON.parse(lock);
    expect(withLockVersion(lock, version)).toBe(lock);
    const after = JSON.parse(withLockVersion(lock, '9.9.9'));
    expect([after.version, after.packages['data-plane'].version]).toEqual(['9.9.9', '9.9.9']);
    expect(after.packages['node_modules/fastify']).toEqual(JSON.parse(lock).packages['node_modules/fastify']);
  });
});
