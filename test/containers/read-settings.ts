/** The environment variables that each program reads, found by running its parser. */
import { parseSettings } from '../../control-plane/local/settings.ts';
import { readTracingSettings } from '@gateway/shared/tracing';
import { readSettings } from '../../control-plane/process/settings.ts';
import { readNodeSettings } from '../../data-plane/node/node-settings.ts';
import { readServerSettings } from '../../data-plane/settings.ts';
import { readIdentityTokenFiles } from '../../data-plane/upstreams/clouds/identity-tokens.ts';

/** Set only by `npm start` for its processes, and by tests. */
const INTERNAL = new Set(['CONSOLE_FOLDER', 'EXPLORER_FOLDER', 'LOCAL_START']);

/** The names of the variables that `read` looks up. */
function namesRead(given: Record<string, string>, read: (env: Record<string, string>) => unknown): string[] {
  const names = new Set<string>();
  read(
    new Proxy(given, {
      get: (target, name) => {
        names.add(String(name));
        return Reflect.get(target, name) as unknown;
      },
    }),
  );
  return [...names].filter((name) => !INTERNAL.has(name));
}

/** The variables that a control plane reads. */
export const ofControl = namesRead(
  {
    ...{ DATABASE_URL: 'postgres://db.example/gateway', SECRET_KEY: 'x'.repeat(32) },
    ...{ OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'id', OIDC_CLIENT_SECRET: 'secret' },
  },
  (env) => [readSettings(env), readTracingSettings(env, 'control')],
);
/** The variables that a node reads. */
export const ofNode = namesRead({ NODE_TOKEN: 'token', CONTROL_URL: 'https://console.example' }, (env) => [
  readNodeSettings(env),
  readServerSettings(env),
  readIdentityTokenFiles(env),
  readTracingSettings(env, 'node'),
]);
/** The variables that `npm start` reads. */
export const ofStart = namesRead({}, parseSettings);
