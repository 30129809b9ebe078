/** The release that this source belongs to. */
import manifest from './package.json' with { type: 'json' };

/** The version of all packages, which the release command sets. */
export const RELEASE: string = manifest.version;
