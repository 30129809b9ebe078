/**
 * Secrets from files, as container platforms and systemd provide them: `NAME_FILE` names the file of `NAME`.
 */

/** The variables that hold a secret, alone or in an address. */
export const SECRET_VARIABLES = [
  'DATABASE_URL',
  'CONTENT_KEYS_URL',
  'CLICKHOUSE_URL',
  'SECRET_KEY',
  'SECRET_KEY_SECOND',
  'ADMIN_PASSWORD',
  'SMTP_URL',
  'OIDC_CLIENT_SECRET',
  'METRICS_TOKEN',
  'USAGE_ARCHIVE_SECRET_ACCESS_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'NODE_TOKEN',
] as const;

type Environment = Record<string, string | undefined>;

/**
 * The environment with each secret whose `NAME_FILE` is set read from that file, without one line end at its
 * end. `read` returns the text of a file. Throws an Error that names the variable if both variables are set,
 * or if the file cannot be read or is empty.
 */
export function withSecretFiles(environment: Environment, read: (path: string) => string): Environment {
  const result = { ...environment };
  for (const name of SECRET_VARIABLES) {
    const variable = `${name}_FILE`;
    const path = environment[variable];
    if (!path) continue;
    if (environment[name]) throw new Error(`${name} and ${variable} are both set. Set one of them.`);
    result[name] = textOf({ variable, path }, read);
    delete result[variable];
  }
  return result;
}

function textOf(
  { variable, path }: { variable: string; path: string },
  read: (path: string) => string,
): string {
  let text: string;
  try {
    text = read(path).replace(/\r?\n$/, '');
  } catch (cause) {
    const advice = 'Check the path and the permissions.';
    throw new Error(`${variable}: the file ${path} cannot be read. ${advice}`, { cause });
  }
  if (text === '') throw new Error(`${variable}: the file ${path} is empty. Write the secret into it.`);
  return text;
}
