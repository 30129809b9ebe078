/** All attacks of a soak run, in the order in which they are run. */
import { BODY_ATTACKS, JSON_ATTACKS } from './attacks-of-bodies.ts';
import { CONTENT_ATTACKS } from './attacks-of-content.ts';
import { GRAPHQL_ATTACKS } from './attacks-of-graphql.ts';
import type { Attack } from './attack.ts';
import { UPSTREAM_ATTACKS } from './hostile-upstream.ts';

export const ATTACKS: readonly Attack[] = [
  ...BODY_ATTACKS,
  ...GRAPHQL_ATTACKS,
  ...UPSTREAM_ATTACKS,
  ...JSON_ATTACKS,
  ...CONTENT_ATTACKS,
];
