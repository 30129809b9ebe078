/** Checks that the code, the README and the compose file have the same settings. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { controlEnvironment, nodeEnvironment } from '../../control-plane/local/plan.ts';
import type { Plan } from '../../control-plane/local/plan.ts';
import { ALLOCATOR, CONTROL_SETTINGS, NODE_SETTINGS } from '../../control-plane/local/variables.ts';
import { readSettings } from '../../control-plane/process/settings.ts';
import { readNodeSettings } from '../../data-plane/node/node-settings.ts';
import { readServerSettings } from '../../data-plane/settings.ts';
import { ofControl, ofNode, ofStart } from './read-settings.ts';

const ROOT = join(import.meta.dirname, '..', '..');
/** The images set these themselves. */
const OF_IMAGES = ['HOST', 'CONTROL_PORT', 'DATA_PORT', 'DATA_DIR'];

/** Only for `PUBLIC_URL`, which `npm start` always sets. */
const DEFAULTED = ['DATA_PORT'];
/** Settings that `npm start` sets itself. */
const PLAN: Plan = {
  ...{ dataDir: '/data', host: '127.0.0.1', controlPort: 1, dataPort: 2, nodePort: 3, demo: 'off' },
  ...{ secretKey: 'key', publicUrl: 'http://a.example', consoleUrl: 'http://b.example' },
  ...{ demoPort: 4, processorPort: 5, processorKey: 'key', webhookSecret: 'secret', logFolder: '/logs' },
};

interface Service {
  environment?: Record<string, string>;
  networks?: string[] | Record<string, { ipv4_address: string }>;
  extra_hosts?: string[];
}

const operations = (name: string): string => readFileSync(join(ROOT, 'docs', 'operations', name), 'utf8');
const { services } = parse(operations('compose.yaml'), { merge: true }) as {
  services: Record<string, Service>;
};

/** The variables in the first column of the README's table. */
function documented(): string[] {
  const rows = readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/^\| (`[A-Z][^|]*) \|/gm);
  return [...rows].flatMap(([, cell = '']) => cell.match(/[A-Z][A-Z_]+/g) ?? []);
}

describe('every setting', () => {
  it('is in the table of the README exactly if the code reads it', () => {
    const read = new Set([...ofControl, ...ofNode, ...ofStart]);
    expect([...read].sort()).toEqual([...new Set(documented())].sort());
    expect(read.size).toBeGreaterThan(20);
  });

  it('is in the README or in the compose file if the guide for operators names it as a setting', () => {
    const guide = readFileSync(join(ROOT, 'docs', 'operations.md'), 'utf8');
    const inQuotes = guide.matchAll(/`([A-Z]+(?:_[A-Z0-9]+)+)(?==|`)/g);
    const named = new Set([...inQuotes].map(([, name = '']) => name));
    const inCompose = operations('compose.yaml').match(/\b[A-Z]+(?:_[A-Z0-9]+)+/g) ?? [];
    const schema = readFileSync(join(ROOT, 'control-plane', 'schema.graphql'), 'utf8');
    const enumValues = schema.match(/(?<=^ {2})[A-Z]+(?:_[A-Z0-9]+)+$/gm) ?? [];
    const known = new Set([...documented(), ...inCompose, ...enumValues, ...Object.keys(ALLOCATOR)]);
    expect([...named].filter((name) => !known.has(name))).toEqual([]);
    expect(named.size).toBeGreaterThan(10);
  });

  it.each([
    ['control-1', ofControl],
    ['control-2', ofControl],
    ['node-1', ofNode],
    ['node-2', ofNode],
  ])('of %s is passed on by the compose file exactly if the process reads it', (name, read) => {
    const given = Object.keys(services[name]?.environment ?? {});
    const wanted = read.filter((variable) => !OF_IMAGES.includes(variable));
    expect(given.sort()).toEqual(wanted.sort());
  });

  it.each([
    ['control plane', ofControl, CONTROL_SETTINGS, controlEnvironment(PLAN, {}, 'postgres://db.example/x')],
    ['node', ofNode, NODE_SETTINGS, nodeEnvironment(PLAN, {})],
  ])('of the %s is passed on or set by `npm start`, and nothing else is', (_plane, read, passed, set) => {
    expect([...passed].filter((name) => !read.includes(name))).toEqual([]);
    expect(read.filter((name) => !passed.has(name) && !(name in set) && !DEFAULTED.includes(name))).toEqual(
      [],
    );
  });

  it('counts as not set if the compose file leaves it empty', () => {
    const left = (name: string): Record<string, string> => {
      const pairs = Object.entries(services[name]?.environment ?? {});
      return Object.fromEntries(
        pairs.map(([key, value]) => [key, value.replaceAll(/\$\{\w+:-(\w*)\}/g, '$1')]),
      );
    };
    const secrets = { DATABASE_URL: 'postgres://db.example/gateway', SECRET_KEY: 'x'.repeat(32) };
    const addresses = {
      ...{ PUBLIC_URL: 'https://api.example', CONSOLE_URL: 'https://console.example' },
      ADMIN_EMAIL: 'boss@example.com',
    };
    expect(readSettings({ ...left('control-1'), ...secrets, ...addresses })).toMatchObject({
      ...{ smtpUrl: null, mailFrom: null, oidc: null, usageRetentionDays: null },
      allowPrivateUpstreams: false,
    });
    const node = { ...left('node-1'), NODE_TOKEN: 'token' };
    expect(readNodeSettings(node)).toMatchObject({ logLevel: 'info', drainMs: 600_000 });
    expect(readServerSettings(node).maxConfigAgeMs).toBe(86_400_000);
  });
});

describe('the proxy of the compose file', () => {
  const named = [...operations('nginx.conf.template').matchAll(/^ {2}server ([\w-]+):\d+/gm)];

  it('knows a fixed address of each server before that server runs', () => {
    expect(named.map(([, host]) => host)).toEqual(['node-1', 'node-2', 'control-1', 'control-2']);
    const addresses = named.map(([, host = '']) => {
      const { networks } = services[host] ?? {};
      const inside = Array.isArray(networks) ? undefined : networks?.['inside'];
      return `${host}:${inside?.ipv4_address}`;
    });
    expect(services['proxy']?.extra_hosts?.toSorted()).toEqual(addresses.toSorted());
  });
});

describe('a node of the compose file', () => {
  it('uses the port for nodes if the control planes have one', () => {
    const { CONTROL_URL: addresses } = services['node-1']?.environment ?? {};
    const ports = addresses?.split(',').map((address) => address.replace(/^http:\/\/control-\d:/, ''));
    expect(ports).toEqual(['${NODE_INTERFACE_PORT:-4000}', '${NODE_INTERFACE_PORT:-4000}']);
  });
});

describe('a node', () => {
  const given = { NODE_TOKEN: 'token', CONTROL_URL: 'https://console.example' };

  it('refuses a log level that the logger does not know', () => {
    expect(() => readNodeSettings({ ...given, LOG_LEVEL: 'loud' })).toThrow(
      /^LOG_LEVEL is "loud". Set it to one of/,
    );
    expect(readNodeSettings({ ...given, LOG_LEVEL: 'debug' }).logLevel).toBe('debug');
  });

  it('reads TRUST_PROXY=none as no trusted proxy, as the control plane does', () => {
    expect(readServerSettings({ TRUST_PROXY: 'none' }).trustedProxies).toEqual([]);
  });
});
