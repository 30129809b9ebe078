/** Settings of the control plane, read from environment variables and validated once at the start. */
import { hostname } from 'node:os';
import path from 'node:path';
import { readLogLevel } from '@gateway/shared/log-line';
import { archiveOf } from './archive-settings.ts';
import type { ArchiveSettings } from './archive-settings.ts';
import { parseEmail } from './email-address.ts';
import { joinKeys } from './secret-key.ts';

/** How much time a partition of the usage log covers. */
const PARTITION_WIDTHS = ['month', 'week', 'day'] as const;
export type PartitionWidth = (typeof PARTITION_WIDTHS)[number];

/** E-mail address and password of an account. */
export interface Credentials {
  email: string;
  password: string;
}

/** The OpenID Connect provider with which users may sign in. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Label of the sign-in button. */
  label: string;
}

/** Validated settings. */
export interface Settings {
  databaseUrl: string;
  /** Address of the database that holds the keys of chats; null for the main database. */
  contentKeysUrl: string | null;
  /** Address of the ClickHouse database that answers usage pages, with user and password; null for none. */
  clickHouseUrl: string | null;
  host: string;
  port: number;
  /** Base address of the data plane for clients, without a slash at the end. */
  publicUrl: string;
  /** Address at which this process reaches the data plane. */
  dataUrl: string;
  /** Address of the console for browsers; empty until the app listens, if CONSOLE_URL is not set. */
  consoleUrl: string;
  /** The keys of everything that is stored encrypted, as one text; see secret-key.ts. */
  secretKey: string;
  dataDir: string;
  /** Addresses and CIDR blocks of trusted proxies, whose X-Forwarded-For counts. */
  trustProxy: string[];
  allowPrivateUpstreams: boolean;
  /** The first administrator; null if a claim link creates it. */
  administrator: Credentials | null;
  /** Address of the mail server; null disables mail and everything that needs it. */
  smtpUrl: string | null;
  /** The sender of mail; null for no-reply at the console's host. */
  mailFrom: string | null;
  oidc: OidcSettings | null;
  /** Folder of the built console. */
  consoleFolder: string;
  /** Folder of the built API explorer. */
  explorerFolder: string;
  /** Whether `npm start` started this process, with the embedded database and the demo. */
  localStart: boolean;
  /** Days for which a month of the usage log is kept after its end; null keeps all. */
  usageRetentionDays: number | null;
  /** How much time a new partition of the usage log covers. */
  usagePartition: PartitionWidth;
  /** Where partitions of the usage log are written before they are dropped; null for nowhere. */
  usageArchive: ArchiveSettings | null;
  /** Cost of GraphQL operations per account and hour; an address without an account has a quarter of it. */
  queryBudget: number;
  /** Bearer token with which remote peers may read metrics; null for none. */
  metricsToken: string | null;
  /** Name of this process in its log. */
  instanceName: string;
  /** The lowest level that is logged. */
  logLevel: string;
  /** File with the configuration that is applied at the start; null for none. */
  configFile: string | null;
  /** Port that serves nodes alone; null if nodes use `port`. If the port is 0, a free one is taken. */
  nodePort: number | null;
}

const SECRET_BYTES_MIN = 32;
const PORT_MAX = 65_535;
const RETENTION_DAYS_MIN = 30;
const METRICS_TOKEN_LENGTH_MIN = 16;
const QUERY_BUDGET = 80_000;
const QUERY_BUDGET_MIN = 2000;
const QUERY_BUDGET_MAX = 1_000_000_000;

/** Reads the settings. Throws an Error that names the invalid variable and its valid values. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const port = portOf(env, 'CONTROL_PORT', 4000);
  const publicUrl = addressOf(env, 'PUBLIC_URL') ?? `http://localhost:${portOf(env, 'DATA_PORT', 8080)}`;
  return {
    databaseUrl: required(env, 'DATABASE_URL', 'the address of a PostgreSQL database'),
    contentKeysUrl: env['CONTENT_KEYS_URL'] || null,
    clickHouseUrl: clickHouseOf(env),
    host: env['HOST'] || '127.0.0.1',
    port,
    publicUrl,
    dataUrl: addressOf(env, 'DATA_URL') ?? publicUrl,
    consoleUrl: addressOf(env, 'CONSOLE_URL') ?? '',
    secretKey: secretKeysOf(env),
    dataDir: env['DATA_DIR'] || '.gateway',
    trustProxy: (env['TRUST_PROXY'] ?? '')
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item && item !== 'none'),
    allowPrivateUpstreams: switchOf(env, 'ALLOW_PRIVATE_UPSTREAMS'),
    administrator: administratorOf(env),
    smtpUrl: smtpOf(env),
    mailFrom: env['MAIL_FROM']?.trim() || null,
    oidc: oidcOf(env),
    consoleFolder: path.resolve(env['CONSOLE_FOLDER'] || path.join('dist', 'console')),
    explorerFolder: path.resolve(env['EXPLORER_FOLDER'] || path.join('dist', 'explorer')),
    localStart: env['LOCAL_START'] === '1',
    usageRetentionDays: retentionOf(env),
    usagePartition: partitionOf(env),
    usageArchive: archiveOf(env, retentionOf(env)),
    queryBudget: budgetOf(env),
    metricsToken: metricsTokenOf(env),
    instanceName: env['INSTANCE_NAME']?.trim() || hostname(),
    logLevel: readLogLevel(env),
    configFile: env['CONFIG_FILE'] || null,
    nodePort: env['NODE_INTERFACE_PORT'] ? portOf(env, 'NODE_INTERFACE_PORT', 0) : null,
  };
}

/** SECRET_KEY, and SECRET_KEY_SECOND if it is set. */
function secretKeysOf(env: NodeJS.ProcessEnv): string {
  const current = required(env, 'SECRET_KEY', 'a random text of at least 32 bytes');
  const second = env['SECRET_KEY_SECOND'] || undefined;
  for (const [name, key] of Object.entries({ SECRET_KEY: current, SECRET_KEY_SECOND: second }))
    if (key !== undefined && Buffer.byteLength(key) < SECRET_BYTES_MIN)
      throw new Error(`${name} is shorter than 32 bytes. Generate one with \`openssl rand -hex 32\`.`);
  if (second === current)
    throw new Error('SECRET_KEY_SECOND is SECRET_KEY. Set it to the other key, or unset it.');
  return joinKeys(current, second);
}

function required(env: NodeJS.ProcessEnv, name: string, what: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set. Set it to ${what}.`);
  return value;
}

/** Both variables or none: with only one of them the account would not be created. */
function administratorOf(env: NodeJS.ProcessEnv): Credentials | null {
  const address = env['ADMIN_EMAIL'];
  const password = env['ADMIN_PASSWORD'];
  if (!address && !password) return null;
  if (!address || !password)
    throw new Error('Only one of ADMIN_EMAIL and ADMIN_PASSWORD is set. Set both or neither.');
  const email = parseEmail(address);
  if (!email) throw new Error('ADMIN_EMAIL must be an e-mail address.');
  return { email, password };
}

/**
 * Days of USAGE_RETENTION_DAYS; null if all partitions are kept. At least a month, because monthly statements
 * and spend limits are computed from the log. Throws an Error for another value.
 */
export function retentionOf(env: NodeJS.ProcessEnv): number | null {
  const text = env['USAGE_RETENTION_DAYS'];
  if (!text) return null;
  const days = Number(text);
  if (!Number.isInteger(days) || days < RETENTION_DAYS_MIN)
    throw new Error(
      `USAGE_RETENTION_DAYS must be a whole number of at least ${RETENTION_DAYS_MIN}, or unset.`,
    );
  return days;
}

function partitionOf(env: NodeJS.ProcessEnv): PartitionWidth {
  const text = env['USAGE_PARTITION'] || 'month';
  const width = PARTITION_WIDTHS.find((one) => one === text);
  if (!width) throw new Error(`USAGE_PARTITION must be one of ${PARTITION_WIDTHS.join(', ')}, or unset.`);
  return width;
}

/** The minimum allows a few pages of the console, which cost some hundreds each. */
function budgetOf(env: NodeJS.ProcessEnv): number {
  const text = env['QUERY_BUDGET'];
  if (!text) return QUERY_BUDGET;
  const budget = Number(text);
  if (!Number.isInteger(budget) || budget < QUERY_BUDGET_MIN || budget > QUERY_BUDGET_MAX)
    throw new Error(`QUERY_BUDGET must be a whole number from ${QUERY_BUDGET_MIN} to ${QUERY_BUDGET_MAX}.`);
  return budget;
}

function metricsTokenOf(env: NodeJS.ProcessEnv): string | null {
  const token = env['METRICS_TOKEN'];
  if (!token) return null;
  if (token.length < METRICS_TOKEN_LENGTH_MIN)
    throw new Error(`METRICS_TOKEN must have at least ${METRICS_TOKEN_LENGTH_MIN} characters.`);
  return token;
}

function portOf(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = env[name];
  if (!text) return fallback;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX)
    throw new Error(`${name} must be a port number from 1 to ${PORT_MAX}, or 0 for a free one.`);
  return port;
}

function addressOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error(`${name} must be an http or https address, e.g. https://gateway.example.com.`);
  return text.replace(/\/+$/, '');
}

/** Requires client id and secret with the issuer. Plain http is allowed on this machine only, for tests. */
function oidcOf(env: NodeJS.ProcessEnv): OidcSettings | null {
  const issuer = addressOf(env, 'OIDC_ISSUER');
  if (!issuer) return null;
  const { protocol, hostname, host } = new URL(issuer);
  if (protocol !== 'https:' && !['localhost', '127.0.0.1'].includes(hostname))
    throw new Error('OIDC_ISSUER must be an https address.');
  return {
    issuer,
    clientId: required(env, 'OIDC_CLIENT_ID', 'the client id that the identity provider issued'),
    clientSecret: required(env, 'OIDC_CLIENT_SECRET', 'the client secret that the identity provider issued'),
    label: env['OIDC_LABEL']?.trim() || host,
  };
}

function clickHouseOf(env: NodeJS.ProcessEnv): string | null {
  const text = env['CLICKHOUSE_URL'];
  if (!text) return null;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error(
      'CLICKHOUSE_URL must be the HTTP address of a database, e.g. https://user:password@host:8443/gateway.',
    );
  return text;
}

function smtpOf(env: NodeJS.ProcessEnv): string | null {
  const text = env['SMTP_URL'];
  if (!text || text === 'none') return null;
  if (!URL.canParse(text) || !/^smtps?:$/.test(new URL(text).protocol))
    throw new Error('SMTP_URL must start with smtp:// or smtps://, e.g. smtps://user:password@host:465.');
  return text;
}

function switchOf(env: NodeJS.ProcessEnv, name: string): boolean {
  const text = (env[name] ?? 'off').toLowerCase();
  if (!['on', 'off', 'true', 'false', '1', '0'].includes(text)) throw new Error(`${name} must be on or off.`);
  return text === 'on' || text === 'true' || text === '1';
}
