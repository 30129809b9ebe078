/** The control plane's settings, read and checked once at the start. */
import path from 'node:path';
import { emailIn } from './email-address.ts';

/** How somebody signs in. */
export interface Credentials {
  email: string;
  password: string;
}

/** The identity provider that people may sign in with. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** What its button says. */
  label: string;
}

export interface Settings {
  databaseUrl: string;
  host: string;
  port: number;
  /** The base address of the data plane, without a slash at the end. */
  publicUrl: string;
  /** Where this process reaches the data plane. */
  dataUrl: string;
  /** The address browsers use; undefined until the port is known, then set by main. */
  consoleUrl: string;
  /** At least 32 bytes; everything that is encrypted at rest hangs on it. */
  secretKey: string;
  dataDir: string;
  /** Addresses and CIDR blocks of proxies whose X-Forwarded-For counts. */
  trustProxy: string[];
  allowPrivateUpstreams: boolean;
  /** The first administrator; null where a link is to make somebody that. */
  administrator: Credentials | null;
  /** Where mail is handed over; null where none is sent, and all that needs mail is absent. */
  smtpUrl: string | null;
  /** The sender of mail; null for no-reply at the console's host. */
  mailFrom: string | null;
  oidc: OidcSettings | null;
  /** Folder of the built console. */
  consoleFolder: string;
  /** Folder of the built API explorer. */
  explorerFolder: string;
  /** Started by `npm start`, with the embedded database and the demo. */
  localStart: boolean;
  /** Months of the usage log that ended longer ago are dropped, in days; null keeps all. */
  usageRetentionDays: number | null;
  /** Cost of GraphQL operations that one account may ask for in an hour; addresses without one a quarter. */
  queryBudget: number;
}

const SECRET_BYTES_MIN = 32;
const PORT_MAX = 65_535;
const RETENTION_DAYS_MIN = 30;
const QUERY_BUDGET = 80_000;
const QUERY_BUDGET_MIN = 2000;
const QUERY_BUDGET_MAX = 1_000_000_000;

/** Reads settings from environment variables. Throws with the variable's name and what it should hold. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const secretKey = required(env, 'SECRET_KEY', 'a random text of at least 32 bytes');
  if (Buffer.byteLength(secretKey) < SECRET_BYTES_MIN)
    throw new Error('SECRET_KEY is too short: it needs at least 32 bytes.');
  const port = portOf(env, 'CONTROL_PORT', 4000);
  const publicUrl = addressOf(env, 'PUBLIC_URL') ?? `http://localhost:${portOf(env, 'DATA_PORT', 8080)}`;
  return {
    databaseUrl: required(env, 'DATABASE_URL', 'the address of a PostgreSQL database'),
    host: env['HOST'] || '127.0.0.1',
    port,
    publicUrl,
    dataUrl: addressOf(env, 'DATA_URL') ?? publicUrl,
    consoleUrl: addressOf(env, 'CONSOLE_URL') ?? '',
    secretKey,
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
    queryBudget: budgetOf(env),
  };
}

function required(env: NodeJS.ProcessEnv, name: string, what: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set. Set it to ${what}.`);
  return value;
}

/** Both or none: half of it would leave somebody outside who thinks that the account is made. */
function administratorOf(env: NodeJS.ProcessEnv): Credentials | null {
  const address = env['ADMIN_EMAIL'];
  const password = env['ADMIN_PASSWORD'];
  if (!address && !password) return null;
  if (!address || !password) throw new Error('ADMIN_EMAIL and ADMIN_PASSWORD are set together, or neither.');
  const email = emailIn(address.trim());
  if (!email) throw new Error('ADMIN_EMAIL must be an e-mail address.');
  return { email, password };
}

/** A month's bills and spend limits rest on the log, so less than a month is refused. */
function retentionOf(env: NodeJS.ProcessEnv): number | null {
  const text = env['USAGE_RETENTION_DAYS'];
  if (!text) return null;
  const days = Number(text);
  if (!Number.isInteger(days) || days < RETENTION_DAYS_MIN)
    throw new Error(`USAGE_RETENTION_DAYS must be a whole number from ${RETENTION_DAYS_MIN} on, or unset.`);
  return days;
}

/** A page of the console costs some hundreds: less than a few of them would be no service. */
function budgetOf(env: NodeJS.ProcessEnv): number {
  const text = env['QUERY_BUDGET'];
  if (!text) return QUERY_BUDGET;
  const budget = Number(text);
  if (!Number.isInteger(budget) || budget < QUERY_BUDGET_MIN || budget > QUERY_BUDGET_MAX)
    throw new Error(`QUERY_BUDGET must be a whole number from ${QUERY_BUDGET_MIN} to ${QUERY_BUDGET_MAX}.`);
  return budget;
}

function portOf(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = env[name];
  if (!text) return fallback;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX)
    throw new Error(`${name} must be a port number, or 0 for a free one.`);
  return port;
}

function addressOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Error(`${name} must be an http or https address.`);
  return text.replace(/\/+$/, '');
}

/** All three or none; plain http on this machine alone, for tests. */
function oidcOf(env: NodeJS.ProcessEnv): OidcSettings | null {
  const issuer = addressOf(env, 'OIDC_ISSUER');
  if (!issuer) return null;
  const { protocol, hostname, host } = new URL(issuer);
  if (protocol !== 'https:' && !['localhost', '127.0.0.1'].includes(hostname))
    throw new Error('OIDC_ISSUER must be an https address.');
  return {
    issuer,
    clientId: required(env, 'OIDC_CLIENT_ID', 'the id of this client at the identity provider'),
    clientSecret: required(env, 'OIDC_CLIENT_SECRET', 'its secret'),
    label: env['OIDC_LABEL']?.trim() || host,
  };
}

function smtpOf(env: NodeJS.ProcessEnv): string | null {
  const text = env['SMTP_URL'];
  if (!text || text === 'none') return null;
  if (!URL.canParse(text) || !/^smtps?:$/.test(new URL(text).protocol))
    throw new Error('SMTP_URL must begin with smtp:// or smtps://, e.g. smtps://user:password@host:465.');
  return text;
}

function switchOf(env: NodeJS.ProcessEnv, name: string): boolean {
  const text = (env[name] ?? 'off').toLowerCase();
  if (!['on', 'off', 'true', 'false', '1', '0'].includes(text)) throw new Error(`${name} must be on or off.`);
  return text === 'on' || text === 'true' || text === '1';
}
