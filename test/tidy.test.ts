/** The rules of CONTRIBUTING, checked on the sources: imports, sizes, forbidden syntax, comments. */
import { describe, expect, it } from 'vitest';
import { PLANES, unlistedRooms, upwardImports } from './tidy/rooms.ts';
import { readSources } from './tidy/sources.ts';
import type { Source } from './tidy/sources.ts';

const LINE_LENGTH = 110;
const FUNCTION_LINES = 50;
const FILE_LINES = 300;
/** Wire types and migrations list things; so do tests. */
const LISTING_LINES = 500;
const PARAMETERS = 3;
const SOURCES_AT_LEAST = 100;

const sources = readSources();
const isTest = (path: string): boolean => /\.test\.tsx?$/.test(path) || path.startsWith('test/');
const production = sources.filter((source) => !isTest(source.path));

/** Offences as readable lines; each rule expects an empty list. */
function offences(list: Source[], find: (source: Source) => (string | false)[]): string[] {
  return list.flatMap((source) =>
    find(source)
      .filter((text) => text !== false)
      .map((text) => `${source.path}: ${text}`),
  );
}

/** Imports of `list` that match `forbidden`. */
function imports(list: Source[], forbidden: RegExp): string[] {
  return offences(list, (source) =>
    source.imports.filter((name) => forbidden.test(name)).map((name) => `imports ${name}`),
  );
}

const inFolder = (folder: string): Source[] =>
  production.filter((source) => source.path.startsWith(`${folder}/`));

describe('imports go one way', () => {
  it('are read from all folders', () => {
    expect(sources.length).toBeGreaterThan(SOURCES_AT_LEAST);
    expect(inFolder('data-plane').flatMap((source) => source.imports).length).toBeGreaterThan(
      SOURCES_AT_LEAST,
    );
  });

  it('shared imports nothing of ours and no framework', () => {
    expect(imports(inFolder('shared'), /^(?!shared\/|node:)/)).toEqual([]);
  });

  it('the planes and the console import only shared beside themselves', () => {
    expect(imports(inFolder('data-plane'), /^(control-plane|console|test)\//)).toEqual([]);
    expect(imports(inFolder('control-plane'), /^(data-plane|console|test)\//)).toEqual([]);
    expect(imports(inFolder('console'), /^(data-plane|control-plane|test)\//)).toEqual([]);
  });

  it('the data plane imports no Apollo, no ORM and no React', () => {
    expect(imports(inFolder('data-plane'), /^(@apollo|@mikro-orm|type-graphql|react|pg$)/)).toEqual([]);
  });

  it('a dialect imports no other dialect, no network and no store', () => {
    const dialects = inFolder('data-plane/dialects').filter((source) => source.path.split('/').length > 3);
    const strange = dialects.flatMap((source) => {
      const own = source.path.split('/').slice(0, 3).join('/');
      const allowed = new RegExp(
        `^(${own}/|data-plane/dialects/[a-z-]+\\.ts$|shared/|node:buffer$|node:crypto$)`,
      );
      return source.imports
        .filter((name) => !allowed.test(name))
        .map((name) => `${source.path}: imports ${name}`);
    });
    expect(strange).toEqual([]);
  });

  it('resolvers know services and services know entities, never the other way', () => {
    const plane = inFolder('control-plane');
    expect(
      imports(
        plane.filter((source) => source.path.endsWith('.service.ts')),
        /\.resolver\.ts$/,
      ),
    ).toEqual([]);
    expect(
      imports(
        plane.filter((source) => source.path.endsWith('.entity.ts')),
        /\.(service|resolver)\.ts$/,
      ),
    ).toEqual([]);
  });

  it('no other domain imports nodes/', () => {
    const domains = inFolder('control-plane').filter(
      (source) =>
        source.path.split('/').length > 2 &&
        !/^control-plane\/(nodes|local|migrations|schema)\//.test(source.path),
    );
    expect(imports(domains, /^control-plane\/nodes\//)).toEqual([]);
  });

  it('the card processor of the demo knows no other code of ours, and only tests import it', () => {
    const folder = 'control-plane/local/card-processor/';
    const own = production.filter((source) => source.path.startsWith(folder));
    const others = production.filter((source) => !source.path.startsWith(folder));
    expect(own.length).toBeGreaterThan(0);
    expect(
      imports(own, /^(?!control-plane\/local\/card-processor\/)(control-plane|shared)\/|^@gateway/),
    ).toEqual([]);
    expect(imports(others, /local\/card-processor\//)).toEqual([]);
  });

  it('only the server knows Fastify, only upstreams and realtime know undici', () => {
    const plane = inFolder('data-plane');
    expect(
      imports(
        plane.filter((source) => !source.path.startsWith('data-plane/http/server')),
        /^fastify$/,
      ),
    ).toEqual([]);
    expect(
      imports(
        plane.filter((source) => !/^data-plane\/(upstreams|realtime)/.test(source.path)),
        /^undici$/,
      ),
    ).toEqual([]);
  });

  it.each(Object.keys(PLANES))(
    'the rooms of %s import rooms below them, with the listed exceptions',
    (plane) => {
      expect(unlistedRooms(plane, inFolder(plane))).toEqual([]);
      expect(upwardImports(plane, inFolder(plane))).toEqual(PLANES[plane]?.upward.toSorted());
    },
  );

  it('have no cycles', () => {
    expect(cycles(production)).toEqual([]);
  });
});

describe('dialects', () => {
  const FILES = [
    'decode-request',
    'encode-request',
    'decode-stream',
    'encode-stream',
    'response',
    'errors',
    'wire',
    'index',
  ];
  /** Only clients speak legacy completions, so it needs no files for requests to and streams of upstreams. */
  const CLIENTS_ONLY = 'openai-completions';
  const UPSTREAM_FILES = ['encode-request', 'decode-stream'];
  /** Only upstreams speak Converse, so it needs no files for requests of and streams to clients. */
  const UPSTREAMS_ONLY = 'bedrock-converse';
  const CLIENT_FILES = ['decode-request', 'encode-stream'];
  const dialects = [
    ...new Set(
      inFolder('data-plane/dialects').flatMap(({ path }) => /dialects\/([^/]+)\//.exec(path)?.[1] ?? []),
    ),
  ];

  it('every dialect has the same files', () => {
    expect(dialects.length).toBeGreaterThan(4);
    const missing = dialects.flatMap((dialect) => {
      const skipped =
        dialect === CLIENTS_ONLY ? UPSTREAM_FILES : dialect === UPSTREAMS_ONLY ? CLIENT_FILES : [];
      const paths = new Set(inFolder(`data-plane/dialects/${dialect}`).map((source) => source.path));
      return FILES.filter((file) => !skipped.includes(file))
        .map((file) => `data-plane/dialects/${dialect}/${file}.ts`)
        .filter((path) => !paths.has(path));
    });
    expect(missing).toEqual([]);
  });
});

describe('the limits of sizes', () => {
  it('hold for files', () => {
    expect(
      offences(sources, (source) => {
        const listing =
          isTest(source.path) || source.path.endsWith('/wire.ts') || source.path.includes('/migrations/');
        return [
          source.lines.length > (listing ? LISTING_LINES : FILE_LINES) && `${source.lines.length} lines`,
        ];
      }),
    ).toEqual([]);
  });

  it('hold for functions', () => {
    expect(
      offences(sources, (source) =>
        source.functions.map(
          (item) =>
            item.lines > FUNCTION_LINES && `${item.name} at line ${item.line} has ${item.lines} lines`,
        ),
      ),
    ).toEqual([]);
  });

  it('hold for lists of parameters, at most three', () => {
    expect(
      offences(production, (source) =>
        source.functions.map(
          (item) =>
            item.parameters > PARAMETERS &&
            `${item.name} at line ${item.line} has ${item.parameters} parameters`,
        ),
      ),
    ).toEqual([]);
  });

  it('hold for lines, at most 110 characters', () => {
    expect(
      offences(sources, (source) =>
        source.lines.map(
          (line, at) => line.length > LINE_LENGTH && `line ${at + 1} has ${line.length} characters`,
        ),
      ),
    ).toEqual([]);
  });
});

describe('the sources', () => {
  it('have no any, no non-null assertion and no double cast', () => {
    expect(
      offences(sources, (source) => source.looseTypes.map((item) => `line ${item.line}: ${item.text}`)),
    ).toEqual([]);
  });

  it('have no TODO, no disabled lint rule and no debug output', () => {
    const banned = new RegExp(
      [
        /\b(TODO|FIXME)\b/,
        /@ts-(ignore|expect-error|nocheck)/,
        /\bconsole\.(log|debug)\(/,
        /\b(it|describe)\.(only|skip)\(/,
      ]
        .map((pattern) => pattern.source)
        .join('|'),
    );
    const own = 'test/tidy.test.ts';
    expect(
      offences(
        sources.filter((source) => source.path !== own),
        (source) => source.lines.map((line, at) => banned.test(line) && `line ${at + 1}: ${line.trim()}`),
      ),
    ).toEqual([]);
  });

  it('have no file or folder named utils, helpers, common, types or misc', () => {
    expect(
      sources
        .map((source) => source.path)
        .filter((path) => /(^|\/)(utils?|helpers?|common|types|misc)(\/|\.tsx?$)/.test(path)),
    ).toEqual([]);
  });

  it('document every exported function and class', () => {
    expect(
      offences(production, (source) => source.undocumented.map((item) => `line ${item.line}: ${item.text}`)),
    ).toEqual([]);
  });

  it('begin no comment with a relative clause', () => {
    const clause = /^[ \t]*(?:\/\*\*|\/\/)(?:\n[ \t]*\*)?[ \t]+((?:What|Whose|Who|Such)\b.*)$/gm;
    expect(
      offences(sources, (source) => [...source.text.matchAll(clause)].map((match) => match[1] ?? '')),
    ).toEqual([]);
  });

  it('state the purpose of each file in its first comment', () => {
    expect(
      production.filter((source) => !/^(#!.*\n)?\/\*\*/.test(source.text)).map((source) => source.path),
    ).toEqual([]);
  });
});

/** Import cycles among our own files, each as the path that closes it. */
function cycles(list: Source[]): string[] {
  const graph = new Map(list.map((source) => [source.path, source.imports]));
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, trail: string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) if (graph.has(next)) walk(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) walk(path, []);
  return found;
}
