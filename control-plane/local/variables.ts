/** The environment variables of `npm start` that its processes receive. All others stay with `npm start`. */

/** Variables of the system that every process needs: programs, language, certificates, proxies, Node. */
const SYSTEM: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['NODE_ENV', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'NODE_USE_ENV_PROXY', 'NODE_V8_COVERAGE'],
  ...['UV_THREADPOOL_SIZE', 'MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_'],
]);
const LOCALE = /^LC_[A-Z]+$/;
/** Variables of PostgreSQL's clients, for a database of the operator. */
const POSTGRES = /^PG[A-Z]+$/;

const TRACING = [
  ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_SERVICE_NAME'],
  'OTEL_TRACES_SAMPLER_ARG',
];

/** Settings of the operator that a control plane reads. */
export const CONTROL_SETTINGS: ReadonlySet<string> = new Set([
  ...[
    'CONTENT_KEYS_URL',
    'CLICKHOUSE_URL',
    'SECRET_KEY_SECOND',
    'ADMIN_EMAIL',
    'ADMIN_PASSWORD',
    'TRUST_PROXY',
  ],
  ...['SMTP_URL', 'MAIL_FROM', 'OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_LABEL'],
  ...['ALLOW_PRIVATE_UPSTREAMS', 'USAGE_RETENTION_DAYS', 'USAGE_PARTITION', 'QUERY_BUDGET', 'METRICS_TOKEN'],
  ...['USAGE_ARCHIVE', 'USAGE_ARCHIVE_REGION', 'USAGE_ARCHIVE_ENDPOINT', 'USAGE_ARCHIVE_PATH_STYLE'],
  ...['USAGE_ARCHIVE_ACCESS_KEY_ID', 'USAGE_ARCHIVE_SECRET_ACCESS_KEY'],
  ...['INSTANCE_NAME', 'LOG_LEVEL', 'CONFIG_FILE'],
  ...TRACING,
]);
/** Settings of the operator that a node reads. */
export const NODE_SETTINGS: ReadonlySet<string> = new Set([
  ...['LOG_LEVEL', 'MAX_CONFIG_AGE', 'METRICS_TOKEN', 'TRUST_PROXY', 'WORKERS'],
  ...['AWS_WEB_IDENTITY_TOKEN_FILE', 'GOOGLE_IDENTITY_TOKEN_FILE'],
  ...TRACING,
]);

/**
 * Settings of glibc for each plane, so that memory of large bodies returns to the system. The first is the
 * number of arenas of a process: by default it has eight per core and keeps them. The second is the size in
 * bytes from which a block is mapped alone, and returned when it is freed. By default glibc raises it by
 * itself, up to 32 MB, and a node kept 100 MB more after large bodies.
 * https://man7.org/linux/man-pages/man3/mallopt.3.html
 */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '262144' };

/** The variables of the system. */
export function systemVariables(inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...ALLOCATOR, ...only(inherited, (name) => SYSTEM.has(name) || LOCALE.test(name)) };
}

/** Environment of a control plane: variables of the system and of PostgreSQL's clients, and its settings. */
export function controlVariables(inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const settings = only(inherited, (name) => CONTROL_SETTINGS.has(name) || POSTGRES.test(name));
  return { ...systemVariables(inherited), ...settings };
}

/** Environment of a node: variables of the system, and its settings. */
export function nodeVariables(inherited: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...systemVariables(inherited), ...only(inherited, (name) => NODE_SETTINGS.has(name)) };
}

function only(inherited: NodeJS.ProcessEnv, isPassed: (name: string) => boolean): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(inherited).filter(([name]) => isPassed(name)));
}
