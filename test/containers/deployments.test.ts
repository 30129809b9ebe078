/** Helm chart and systemd units pass on every setting, keep secrets in files, and drain long enough. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ALLOCATOR } from '../../control-plane/local/variables.ts';
import { SECRET_VARIABLES } from '@gateway/shared/secret-files';
import { readNodeSettings } from '../../data-plane/node/node-settings.ts';
import { readDockerfile } from './dockerfile.ts';
import { ofControl, ofNode } from './read-settings.ts';

const OPERATIONS = join(import.meta.dirname, '..', '..', 'docs', 'operations');
const CHART = join(OPERATIONS, 'helm');
const read = (...path: string[]): string => readFileSync(join(...path), 'utf8');

interface Schema {
  properties?: Record<string, Schema>;
  items?: { enum?: string[] };
  propertyNames?: { enum?: string[] };
}
const schema = JSON.parse(read(CHART, 'values.schema.json')) as Schema;
const values = parse(read(CHART, 'values.yaml')) as Record<string, Record<string, unknown>>;
const isSecret = (name: string): boolean => (SECRET_VARIABLES as readonly string[]).includes(name);
/** Values whose members the operator chooses. */
const OPEN = new Set(['environment', 'resources', 'annotations']);
/** Variables that the images set. */
const OF_IMAGES = ['HOST', 'CONTROL_PORT', 'DATA_PORT', 'DATA_DIR'];

/** An image by tag and digest: the tag says what it is, the digest which bytes are run. */
const PINNED = /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/;

describe('an image of others', () => {
  const ownStage = (plane: string): Set<string | undefined> =>
    new Set(readDockerfile(join(OPERATIONS, '..', '..', plane, 'Dockerfile')).map(({ alias }) => alias));

  it.each(['control-plane', 'data-plane'])('is pinned by digest in the Dockerfile of the %s', (plane) => {
    const bases = readDockerfile(join(OPERATIONS, '..', '..', plane, 'Dockerfile')).map(({ base }) => base);
    expect(bases.filter((base) => !ownStage(plane).has(base) && !PINNED.test(base))).toEqual([]);
    expect(bases.length).toBeGreaterThan(1);
  });

  it('is pinned by digest in the compose file', () => {
    const images = [...read(OPERATIONS, 'compose.yaml').matchAll(/^ +image: (\S+)$/gm)].map(
      ([, image = '']) => image,
    );
    const ofOthers = images.filter((image) => !image.startsWith('gateway-'));
    expect(ofOthers.filter((image) => !PINNED.test(image))).toEqual([]);
    expect(ofOthers.length).toBe(2);
  });
});

const UNITS = ['gateway-control.service', 'gateway-node@.service'];

/** The variables that a template sets itself. */
function setBy(template: string): string[] {
  const names = read(CHART, 'templates', template).matchAll(/- \{ name: ([A-Z_]+),/g);
  return [...names].map(([, name = '']) => name.replace(/_FILE$/, ''));
}

describe('the Helm chart', () => {
  it.each([
    ['control', 'control.yaml', ofControl],
    ['nodes', 'nodes.yaml', ofNode],
  ])('passes on every setting of %s exactly once, and secrets by files', (part, template, readByCode) => {
    const { environment, secrets } = schema.properties?.[part]?.properties ?? {};
    const open = environment?.propertyNames?.enum ?? [];
    const inFiles = secrets?.items?.enum ?? [];
    const wanted = readByCode.filter((name) => !OF_IMAGES.includes(name));
    expect([...setBy(template), ...open, ...inFiles].toSorted()).toEqual(wanted.toSorted());
    expect(open.filter(isSecret)).toEqual([]);
    expect(inFiles.filter((name) => !isSecret(name))).toEqual([]);
  });

  it('has a schema for each of its values, and uses each of them', () => {
    const names = (of: object, path: string[]): string[] =>
      Object.entries(of).flatMap(([name, value]) => {
        const own = [...path, name];
        const isOpen = OPEN.has(name) || name.endsWith('Namespace');
        const isGroup = typeof value === 'object' && !Array.isArray(value) && !isOpen;
        return isGroup ? names(value as object, own) : [own.join('.')];
      });
    const all = names(values, []);
    const templates = globSync(join(CHART, 'templates', '*'))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    expect(all.filter((name) => !templates.includes(`.Values.${name}`))).toEqual([]);
    const known = (path: string): boolean => {
      let at: Schema | undefined = schema;
      for (const name of path.split('.')) at = at?.properties?.[name];
      return at !== undefined;
    };
    expect(all.filter((name) => !known(name))).toEqual([]);
  });

  it('gives a node its drain time and 15 s more, and keeps its journal', () => {
    const nodes = read(CHART, 'templates', 'nodes.yaml');
    expect(nodes).toContain('terminationGracePeriodSeconds: {{ add .Values.nodes.drainSeconds 15 }}');
    expect(nodes).toContain('whenDeleted: Retain');
  });
});

/** Variables that Node.js and the C library read. */
const FOREIGN = ['NODE_ENV', 'TMPDIR', ...Object.keys(ALLOCATOR)];

describe('the allocator', () => {
  it.each([
    ...['package.json', 'control-plane/Dockerfile', 'data-plane/Dockerfile'],
    ...UNITS.map((unit) => `docs/operations/systemd/${unit}`),
  ])('has the settings of `npm start` in %s', (file) => {
    for (const setting of Object.entries(ALLOCATOR)) expect(read(file)).toContain(setting.join('='));
  });
});

describe('large uploads', () => {
  it.each(['data-plane/Dockerfile', 'docs/operations/systemd/gateway-node@.service'])(
    'wait in the folder of the node in %s, because /tmp may be small or in memory',
    (file) => {
      const [, folder = ''] = / DATA_DIR=(\S+)/.exec(read(file)) ?? [];
      expect(folder).not.toBe('');
      expect(read(file)).toContain(` TMPDIR=${folder}`);
    },
  );

  it('wait in the folder of the node under `npm run start:data`, unless TMPDIR is set', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    expect(scripts['start:data']).toContain(' TMPDIR="${TMPDIR:-${DATA_DIR:-.gateway/node}}" ');
    const { dataDir } = readNodeSettings({ NODE_TOKEN: 'token', CONTROL_URL: 'https://console.example' });
    expect(dataDir).toBe(join(process.cwd(), '.gateway', 'node'));
  });
});

describe('a systemd unit', () => {
  it.each(UNITS)('%s keeps secrets out of its variables', (name) => {
    const unit = read(OPERATIONS, 'systemd', name);
    const credentials = [...unit.matchAll(/^LoadCredential=([A-Z_]+):/gm)].map(([, secret]) => secret);
    const [, given = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
    const fromFiles = [...given.matchAll(/([A-Z_]+)_FILE=%d\/([A-Z_]+)/g)].map(([, variable]) => variable);
    expect(fromFiles).toEqual(credentials);
    expect(credentials.length).toBeGreaterThan(0);
    const [readByCode] = name.includes('node') ? [ofNode] : [ofControl];
    const plain = [...given.matchAll(/(?:^| )([A-Z_]+)=/g)].map(([, variable = '']) => variable);
    const own = plain.filter((variable) => !variable.endsWith('_FILE') && !FOREIGN.includes(variable));
    expect(own.filter((variable) => !readByCode.includes(variable) || isSecret(variable))).toEqual([]);
  });

  it('waits longer than a node drains', () => {
    expect(read(OPERATIONS, 'systemd', 'gateway-node@.service')).toContain('TimeoutStopSec=615');
  });
});
