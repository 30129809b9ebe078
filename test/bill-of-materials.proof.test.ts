/** The bill of materials that a release writes names each package of the product, and no development tool. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BILL_OF_MATERIALS, withoutDevelopment } from '../tools/release-texts.mjs';

const ROOT = join(import.meta.dirname, '..');
const SCHEME = 'pkg:npm/';
const OUTPUT_BYTES = 64 * 1024 * 1024;
const TEST_MS = 60_000;

interface Locked {
  version?: string;
  link?: boolean;
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
  peer?: boolean;
}

it(
  'the bill of materials names the packages of the product, and no development tool',
  () => {
    const text = withoutDevelopment(
      execFileSync('npm', BILL_OF_MATERIALS, { cwd: ROOT, encoding: 'utf8', maxBuffer: OUTPUT_BYTES }),
    );
    const bill = JSON.parse(text) as { bomFormat: string; components: { purl: string }[] };
    expect(bill.bomFormat).toBe('CycloneDX');
    const named = new Set(bill.components.map(({ purl }) => decodeURIComponent(purl.slice(SCHEME.length))));
    const locked = lockedPackages();
    const ofProduct = locked.filter((one) => !one.dev && !one.devOptional && !one.optional && !one.peer);
    expect(ofProduct.map(({ name }) => name).filter((name) => !named.has(name))).toEqual([]);
    expect(named).toContain(ofProduct[0]?.name);
    const ofProductNames = new Set(locked.filter(({ dev }) => !dev).map(({ name }) => name));
    const tools = locked.filter(({ dev, name }) => dev && !ofProductNames.has(name));
    expect(tools.length).toBeGreaterThan(0);
    expect(tools.filter(({ name }) => named.has(name))).toEqual([]);
  },
  TEST_MS,
);

/** The packages of the lock file, named as `name@version`. */
function lockedPackages(): (Locked & { name: string })[] {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { link }]) => path.includes('node_modules/') && !link)
    .map(([path, one]) => ({ ...one, name: `${path.split('node_modules/').at(-1)}@${one.version}` }));
}
