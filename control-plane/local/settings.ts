/** Settings of `npm start`, parsed from environment variables and validated once. */
import path from 'node:path';

const PORT_MAX = 65_535;
const SECRET_KEY_MIN_BYTES = 32;
const DEFAULTS = { dataDir: '.gateway', host: '127.0.0.1', controlPort: 4000, dataPort: 8080 };

/** Validated settings. */
export interface LocalSettings {
  dataDir: string;
  host: string;
  /** 0 picks a free port. */
  controlPort: number;
  /** 0 picks a free port. */
  dataPort: number;
  /** Port of the control plane for nodes alone; absent: nodes use `controlPort`. 0 picks a free port. */
  nodePort?: number;
  /** Absent: the embedded PostgreSQL in `dataDir` is used. */
  databaseUrl?: string;
  /** Absent: generated in `dataDir`; required with `databaseUrl`. */
  secretKey?: string;
  publicUrl?: string;
  consoleUrl?: string;
  demo: 'auto' | 'off';
}

/** The settings. Throws an Error with one line per invalid variable, which names its valid values. */
export function parseSettings(environment: NodeJS.ProcessEnv): LocalSettings {
  const faults: string[] = [];
  const take = <T>(read: () => T, fallback: T): T => {
    try {
      return read();
    } catch (error) {
      faults.push((error as Error).message);
      return fallback;
    }
  };
  const databaseUrl = take(
    () => readUrl(environment, 'DATABASE_URL', ['postgres:', 'postgresql:']),
    undefined,
  );
  const settings: LocalSettings = {
    dataDir: path.resolve(environment.DATA_DIR || DEFAULTS.dataDir),
    host: environment.HOST || DEFAULTS.host,
    controlPort: take(() => readPort(environment, 'CONTROL_PORT', DEFAULTS.controlPort), 0),
    dataPort: take(() => readPort(environment, 'DATA_PORT', DEFAULTS.dataPort), 0),
    demo: take(() => readDemo(environment), 'auto'),
    ...definedOnly({
      nodePort: environment.NODE_INTERFACE_PORT
        ? take(() => readPort(environment, 'NODE_INTERFACE_PORT', 0), 0)
        : undefined,
      databaseUrl,
      secretKey: take(() => readSecretKey(environment), undefined),
      publicUrl: take(() => readUrl(environment, 'PUBLIC_URL', ['http:', 'https:']), undefined),
      consoleUrl: take(() => readUrl(environment, 'CONSOLE_URL', ['http:', 'https:']), undefined),
    }),
  };
  if (settings.controlPort !== 0 && settings.controlPort === settings.dataPort) {
    faults.push(`CONTROL_PORT and DATA_PORT are both ${settings.dataPort}. Set different ports.`);
  }
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return settings;
}

function readPort(environment: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const text = environment[name];
  if (!text) return fallback;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > PORT_MAX)
    throw new Error(`${name} must be a port from 1 to ${PORT_MAX}, or 0 for a free one.`);
  return port;
}

function readUrl(environment: NodeJS.ProcessEnv, name: string, protocols: string[]): string | undefined {
  const text = environment[name];
  if (!text) return undefined;
  if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol)) {
    throw new Error(
      `${name} must be an address that starts with ${protocols.map((name) => `${name}//`).join(' or ')}.`,
    );
  }
  return text.replace(/\/+$/, '');
}

function readSecretKey(environment: NodeJS.ProcessEnv): string | undefined {
  const secret = environment.SECRET_KEY;
  if (!secret) {
    if (!environment.DATABASE_URL) return undefined;
    throw new Error(
      'SECRET_KEY is required with DATABASE_URL. Generate one with `openssl rand -hex 32` and keep it.',
    );
  }
  if (Buffer.byteLength(secret) < SECRET_KEY_MIN_BYTES)
    throw new Error(
      `SECRET_KEY must have at least ${SECRET_KEY_MIN_BYTES} bytes, e.g. from \`openssl rand -hex 32\`.`,
    );
  return secret;
}

function readDemo(environment: NodeJS.ProcessEnv): 'auto' | 'off' {
  const text = environment.DEMO || 'auto';
  if (text !== 'auto' && text !== 'off') throw new Error('DEMO must be auto or off.');
  return text;
}

/** Without members that are undefined, so that a spread does not overwrite values with undefined. */
function definedOnly<T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> };
}
