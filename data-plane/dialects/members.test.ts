/**
 * The table of members of each dialect: a mirrored request is sent with every byte of what the table admits,
 * and without what it does not know.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeModel } from '../../test/request-path.ts';
import { SKIPPED_SUFFIX, hasRecordings, readRecordings } from '../../test/recorded-traffic.ts';
import { mirrored, refusePriced, refuseStored } from '../exchange/mirror.ts';
import { parseRequestBody } from '../exchange/request-body.ts';
import type { Dialect } from './dialect.ts';
import { objectOf } from './fields.ts';
import type { JsonObject } from './fields.ts';
import { DIALECTS } from './index.ts';
import type { MemberKind, MemberLine } from './member-table.ts';

const ALL = Object.values(DIALECTS);
const MODEL = makeModel();

/** One member of a table: its kind, and the steps to its object. */
interface Entry {
  kind: MemberKind;
  path: string[];
  name: string;
  /** The value of `type` that the line is about. */
  type?: string;
}

function linesOf({ inbound }: Dialect): readonly MemberLine[] {
  return inbound.mirror?.members.lines ?? [];
}

/** The shortest way from the body to each object. */
function pathsOf(lines: readonly MemberLine[]): Map<string, string[]> {
  const paths = new Map<string, string[]>([['request', []]]);
  for (const [object, path] of paths) {
    for (const [holder, , members] of lines.filter(([name]) => name === object)) {
      for (const member of members.split(' ')) {
        const [name = '', target] = member.split('>');
        if (target !== undefined && !paths.has(target)) paths.set(target, [...path, name]);
      }
      expect(holder).toBe(object);
    }
  }
  return paths;
}

function entriesOf(dialect: Dialect): Entry[] {
  const lines = linesOf(dialect);
  const paths = pathsOf(lines);
  return lines.flatMap(([object, kind, members]) => {
    const path = paths.get(object);
    if (!path) throw new Error(`nothing leads to ${object}`);
    return members.split(' ').map((member): Entry => {
      const type = /^type=(.*)$/.exec(member)?.[1]?.replace(/\*$/, '20990101');
      const [name = ''] = member.split(/[*>]/);
      return type === undefined ? { kind, path, name } : { kind, path, name: 'type', type };
    });
  });
}

/** The text of a body with these members of the object at `path`, in unusual white space. */
function bodyWith(path: readonly string[], members: string): string {
  const inner = path.reduceRight((text, name) => `{ "${name}" : [${text}\n]}`, `{\t${members} }`);
  return `{"model":"swift" ,${inner.slice(1)}`;
}

function valueOf({ type, name, kind }: Entry): string {
  if (type !== undefined) return JSON.stringify(type);
  if (kind === 'address') return '"https://example.com/a.png"';
  return name === 'type' ? 'null' : '"value"';
}

/** The mirrored body and what was left out. Throws what the gateway refuses. */
function send(dialect: Dialect, text: string, model = MODEL): { body: string; dropped: string[] } {
  const body = parseRequestBody(Buffer.from(text), dialect.inbound.mirror?.members);
  refuseStored(body);
  refusePriced(body, model);
  const sent = mirrored(
    body,
    {},
    {
      dialect: dialect.name,
      model: 'swift',
      streamed: false,
      tables: dialect.inbound.mirror,
      passUnknown: model.passUnknown,
    },
  );
  return { body: String(sent.body), dropped: sent.dropped };
}

/** The body that is sent for one without unknown members: the gateway sets model and storage. */
function expected({ name }: Dialect, text: string): string {
  if (name === 'google-generate') return text.replace(/"model":"swift"( ,\s*)?/, '');
  return name === 'openai-responses' ? text.replace(/ ?\}$/, ',"store":false$&') : text;
}

describe.each(ALL)('the table of $name', (dialect) => {
  const entries = entriesOf(dialect);
  const known = entries.filter(({ kind }) => kind !== 'ours');

  it('names the page that documents each line', () => {
    for (const [object, , members, source] of linesOf(dialect))
      expect(source, `${object} ${members}`).toMatch(/^https:\/\/\S+$/);
  });

  it('lets every member of kind `pass` through, byte for byte', () => {
    for (const entry of known.filter(({ kind }) => kind === 'pass' || kind === 'address')) {
      const text = bodyWith(entry.path, `"${entry.name}" : ${valueOf(entry)}`);
      expect(send(dialect, text), text).toEqual({ body: expected(dialect, text), dropped: [] });
    }
  });

  it('refuses every member of kind `stored`', () => {
    const stored = known.filter(({ kind }) => kind === 'stored');
    expect(stored).not.toEqual([]);
    for (const entry of stored) {
      const text = bodyWith(entry.path, `"${entry.name}":${valueOf(entry)}`);
      expect(() => send(dialect, text), text).toThrow('stored at a provider');
    }
  });

  it('refuses every member of kind `priced`, unless the limits of the model name it', () => {
    const priced = known.filter(({ kind }) => kind === 'priced');
    expect(priced).not.toEqual([]);
    for (const entry of priced) {
      const text = bodyWith(entry.path, `"${entry.name}":${valueOf(entry)}`);
      expect(() => send(dialect, text), text).toThrow('is not sold with');
      const tier = entry.type?.replace(/_20990101$/, '') ?? 'value';
      const seller = makeModel({ limits: { ...MODEL.limits, serviceTiers: [tier] } });
      expect(send(dialect, text, seller), text).toEqual({ body: expected(dialect, text), dropped: [] });
      const object = bodyWith(entry.path, `"${entry.name}":[{"any":{"thing":1}}]`);
      if (entry.type === undefined) expect(() => send(dialect, object)).toThrow(`"${entry.name}"`);
    }
  });
});

describe.each(ALL)('a $name request', (dialect) => {
  it('loses an unknown member on every level, which is named, unless the model lets it pass', () => {
    const open = makeModel({ passUnknown: true });
    for (const [object, path] of pathsOf(linesOf(dialect))) {
      const member = '"new~/member" : {"a":[1,{"b":2}]}';
      const text = bodyWith(path, member);
      const pointer = `${path.map((step) => `/${step}/0`).join('')}/new~0~1member`;
      const without = text.replace(object === 'request' ? ` ,\t${member}` : member, '');
      expect(send(dialect, text), text).toEqual({ body: expected(dialect, without), dropped: [pointer] });
      expect(send(dialect, text, open)).toEqual({ body: expected(dialect, text), dropped: [] });
    }
  });

  it('keeps empty and ordinary values of priced and stored members', () => {
    for (const { path, name, type, kind } of entriesOf(dialect)) {
      if (type !== undefined || (kind !== 'priced' && kind !== 'stored')) continue;
      for (const value of kind === 'priced' ? ['null', '[]', '"auto"', 'false'] : ['null', '[]']) {
        const text = bodyWith(path, `"${name}":${value}`);
        expect(send(dialect, text), text).toEqual({ body: expected(dialect, text), dropped: [] });
      }
    }
  });
});

describe('a tool of an unknown type', () => {
  it.each(['openai-chat', 'openai-responses', 'anthropic-messages'] as const)(
    'is left out of a %s request as a whole',
    (name) => {
      const text = '{"model":"swift","tools":[ {"type":"dear_20991231","name":"a"} , {"name":"b"} ]}';
      const without = text.replace('{"type":"dear_20991231","name":"a"} , ', '');
      const dialect = DIALECTS[name];
      expect(send(dialect, text)).toEqual({ body: expected(dialect, without), dropped: ['/tools/0'] });
      expect(send(dialect, text, makeModel({ passUnknown: true })).dropped).toEqual([]);
    },
  );
});

describe('a price', () => {
  it.each([
    ['google-generate', '{"contents":"a","serviceTier":"SERVICE_TIER_PRIORITY"}', '/serviceTier'],
    ['google-generate', '{"contents":"a","service_tier":"priority"}', '/service_tier'],
    ['anthropic-messages', '{"model":"m","speed":"fast"}', '/speed'],
    ['anthropic-messages', '{"model":"m","fallbacks":[{"model":"dear"}]}', '/fallbacks'],
    ['anthropic-messages', '{"model":"m","billing_policy":{"type":"x"}}', '/billing_policy'],
    ['anthropic-messages', '{"model":"m","mcp_servers":[{"url":"https://a.example"}]}', '/mcp_servers'],
    ['openai-responses', '{"model":"m","tools":[{"type":"mcp","server_url":"https://a"}]}', '/tools/0'],
    ['openai-chat', '{"model":"m","models":["dear"]}', '/models'],
  ] as const)('in %s is refused at %s', (name, text, pointer) => {
    expect(() => send(DIALECTS[name], text)).toThrow(pointer);
  });
});

describe.skipIf(!hasRecordings)(`recorded requests${SKIPPED_SUFFIX}`, () => {
  it.each(ALL)('of $name pass with nothing left out', (dialect) => {
    const tiers = 'priority flex provider mcp mcp_servers mcpServers image_generation advisor'.split(' ');
    const model = makeModel({ limits: { ...MODEL.limits, serviceTiers: tiers } });
    for (const { id, request, wire } of readRecordings()) {
      if (wire !== dialect.name || !request) continue;
      const text = JSON.stringify(request.body);
      const { findings } = parseRequestBody(Buffer.from(text), dialect.inbound.mirror?.members);
      if (findings.stored.length > 0) continue;
      expect([id, send(dialect, text, model).dropped]).toEqual([id, []]);
    }
  });
});

const SCHEMAS = join(import.meta.dirname, '../../../shared/corpus/schemas');
const OPENAI = 'openai.openapi.json#components/schemas';
const VERTEX = 'google.aiplatform.v1beta1.discovery.json#schemas';
const OFFICIAL = [
  { name: 'openai-chat', schema: `${OPENAI}/CreateChatCompletionRequest` },
  { name: 'openai-responses', schema: `${OPENAI}/CreateResponse` },
  { name: 'openai-responses', schema: `${OPENAI}/CompactResponseMethodPublicBody` },
  { name: 'anthropic-messages', schema: 'anthropic.MessageCreateParams.json#' },
  { name: 'google-generate', schema: `${VERTEX}/GoogleCloudAiplatformV1beta1GenerateContentRequest` },
] as const;

type Known = NonNullable<Dialect['inbound']['mirror']>['members']['root'];

/** Looks up the members of official schemas in a table. */
class SchemaReader {
  readonly missing = new Set<string>();
  readonly #root: JsonObject;
  readonly #seen = new Map<unknown, Set<Known>>();

  constructor(file: string) {
    this.#root = objectOf(JSON.parse(readFileSync(join(SCHEMAS, file), 'utf8')));
  }

  at(path: string): unknown {
    return path
      .split('/')
      .reduce<unknown>((value, step) => (step ? objectOf(value)[step] : value), this.#root);
  }

  /** Notes the members of the schema that the table does not know. */
  compare(schema: unknown, known: Known, at: string): void {
    for (const object of this.#objectsOf(schema)) {
      const seen = this.#seen.get(object) ?? new Set();
      if (seen.has(known)) continue;
      this.#seen.set(object, seen.add(known));
      for (const [name, member] of Object.entries(objectOf(object.properties))) {
        const found = known.members.get(name);
        const isFree = found?.value === 'any' || found?.kind === 'priced' || found?.kind === 'stored';
        if (!found) this.missing.add(`${at}/${name}`);
        else if (typeof found.value === 'object') this.compare(member, found.value, `${at}/${name}`);
        else if (!isFree && found.kind !== 'ours' && this.#objectsOf(member).length > 0)
          this.missing.add(`${at}/${name}/…`);
      }
    }
  }

  /** The objects with members that a value of the schema may be, or may hold as items. */
  #objectsOf(schema: unknown): JsonObject[] {
    const { $ref, items, properties, ...rest } = objectOf(schema);
    const target =
      typeof $ref === 'string' ? ($ref.startsWith('#/') ? $ref.slice(2) : `schemas/${$ref}`) : '';
    const choices = ['anyOf', 'oneOf', 'allOf'].flatMap((name) =>
      Array.isArray(rest[name]) ? rest[name] : [],
    );
    return [
      ...(Object.keys(objectOf(properties)).length > 0 ? [objectOf(schema)] : []),
      ...(target ? this.#objectsOf(this.at(target)) : []),
      ...(items ? this.#objectsOf(items) : []),
      ...choices.flatMap((choice) => this.#objectsOf(choice)),
    ];
  }
}

describe.skipIf(!existsSync(SCHEMAS))('the official schema', () => {
  it.each(OFFICIAL)('of $name has no member that its table does not list: $schema', ({ name, schema }) => {
    const [file = '', path = ''] = schema.split('#');
    const reader = new SchemaReader(file);
    const root = DIALECTS[name].inbound.mirror?.members.root;
    if (root) reader.compare(reader.at(path), root, '');
    expect([...reader.missing]).toEqual([]);
  });
});
