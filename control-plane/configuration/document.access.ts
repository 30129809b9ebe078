/** The access of an upstream in a configuration file: authentication, request style, headers, proxy. */
import { AUTH_KINDS, DEFAULT_ACCESS, REQUEST_STYLES } from '@gateway/shared/clouds/access';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import { described, line, list, nullable, object, oneOf } from './shape.ts';
import type { Shape } from './shape.ts';

const parameter = nullable(line(600));
const pairs = list(object({ name: line(100), value: line(1000) }, ['name', 'value']));

const givenAccess = object({
  auth: described('How requests are authenticated; see docs/operations.md.', oneOf(AUTH_KINDS)),
  tenantId: parameter,
  clientId: parameter,
  scope: parameter,
  region: parameter,
  service: parameter,
  roleArn: parameter,
  audience: parameter,
  serviceAccount: parameter,
  tokenUrl: parameter,
  style: oneOf(REQUEST_STYLES),
  pathTemplate: nullable(line(300)),
  headers: described('Headers that every request gets. No secrets.', pairs),
  query: described('Query parameters that every request gets. No secrets.', pairs),
  proxyUrl: described('Address of an HTTP proxy, e.g. http://proxy.internal:3128.', parameter),
});

/** An access replaces the stored one as a whole: fields that are left out have their default value. */
export const accessShape: Shape<UpstreamAccess | null> = described(
  'How the upstream is reached. It replaces the stored access; null for an API key in the usual header.',
  nullable({
    schema: givenAccess.schema,
    read: (value, at): UpstreamAccess | null => {
      const access: UpstreamAccess = { ...DEFAULT_ACCESS, ...givenAccess.read(value, at) };
      return JSON.stringify(access) === JSON.stringify(DEFAULT_ACCESS) ? null : access;
    },
  }),
);
