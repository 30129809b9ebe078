/** How a release changes texts: version numbers and the changelog. Pure. */

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;
const UNRELEASED = '## [Unreleased]\n';

/** Files that name the images by version. */
export const IMAGE_MENTIONS = [
  'docs/operations.md',
  'docs/operations/compose.yaml',
  'docs/operations/helm/values.yaml',
];

/**
 * Arguments of npm that print a CycloneDX bill of materials of the whole lock file. With `--omit=dev`, npm 11
 * also omits packages of the product that a development tool uses as well.
 */
export const BILL_OF_MATERIALS = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'];
const DEVELOPMENT = 'cdx:npm:package:development';

/** The bill of materials without packages that only development tools use. */
export function withoutDevelopment(text) {
  const bill = JSON.parse(text);
  const isKept = ({ properties = [] }) => !properties.some(({ name }) => name === DEVELOPMENT);
  const components = bill.components.filter(isKept);
  const kept = new Set([bill.metadata.component, ...components].map((one) => one['bom-ref']));
  const dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) }));
  return `${JSON.stringify({ ...bill, components, dependencies }, null, 2)}\n`;
}

/** Whether `version` is a three-part version above `current`. */
export function isNewer(version, current) {
  const [next, now] = [version, current].map((text) =>
    VERSION.exec(text ?? '')
      ?.slice(1)
      .map(Number),
  );
  if (!next || !now) return false;
  const at = next.findIndex((part, index) => part !== now[index]);
  return at >= 0 && next[at] > now[at];
}

/** A manifest's text under the new version; references to workspaces of the old version follow. */
export function withVersion(manifest, current, version) {
  return manifest
    .replace(`"version": "${current}"`, `"version": "${version}"`)
    .replace(`"@gateway/shared": "${current}"`, `"@gateway/shared": "${version}"`);
}

/** The text of the Helm chart's manifest under the new version. */
export function withChartVersion(chart, version) {
  return chart.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`);
}

/** The lock file's text with the new version for the project and its workspaces. */
export function withLockVersion(lock, version) {
  const content = JSON.parse(lock);
  content.version = version;
  for (const [at, entry] of Object.entries(content.packages)) {
    if (at.startsWith('node_modules/')) continue;
    entry.version = version;
    if (entry.dependencies?.['@gateway/shared']) entry.dependencies['@gateway/shared'] = version;
  }
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/**
 * The changelog with its unreleased entries under the version and date (https://keepachangelog.com);
 * undefined if nothing is unreleased.
 */
export function withReleasedSection(changelog, version, date) {
  const start = changelog.indexOf(UNRELEASED);
  if (start < 0) return undefined;
  const rest = changelog.slice(start + UNRELEASED.length);
  const entries = rest.split(/^## /m)[0].trim();
  if (entries === '') return undefined;
  const day = date.toISOString().slice(0, 10);
  return `${changelog.slice(0, start)}${UNRELEASED}\n## [${version}] - ${day}\n${rest}`;
}
