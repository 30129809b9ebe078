/**
 * The table of members of each dialect: a mirrored request is sent with every byte of what the table admits,
 * and without what it does not know.
 */
import { describe, expect, it } from 'vitest';
import {
  bodyWith,
  entriesOf,
  hasSchemas,
  missingMembers,
  pathsOf,
  valueOf,
} from '../../test/member-tables.ts';
import { makeModel } from '../../test/request-path.ts';
import { SKIPPED_SUFFIX, hasRecordings, readRecordings } from '../../test/recorded-traffic.ts';
import { mirrored, refusePriced, refuseStored } from '../exchange/mirror.ts';
import { parseRequestBody } from '../exchange/request-body.ts';
import type { Dialect } from './dialect.ts';
import { DIALECTS } from './index.ts';
import type { MemberLine } from './member-table.ts';

const ALL = Object.values(DIALECTS);
const MODEL = makeModel();

const linesOf = ({ inbound }: Dialect): readonly MemberLine[] => inbound.mirror?.members.lines ?? [];

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
  const entries = entriesOf(linesOf(dialect));
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
  it('loses unknown members of every level, which are named, unless the model lets them pass', () => {
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
    for (const { path, name, type, kind } of entriesOf(linesOf(dialect))) {
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
  ] as const)('is refused in %s at %s', (name, text, pointer) => {
    expect(() => send(DIALECTS[name], text)).toThrow(pointer);
  });
});

describe.skipIf(!hasRecordings)(`recorded requests${SKIPPED_SUFFIX}`, () => {
  it.each(ALL)('of $name are sent without an omission', (dialect) => {
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

const OPENAI = 'openai.openapi.json#components/schemas';
const VERTEX = 'google.aiplatform.v1beta1.discovery.json#schemas';
const OFFICIAL = [
  { name: 'openai-chat', schema: `${OPENAI}/CreateChatCompletionRequest` },
  { name: 'openai-responses', schema: `${OPENAI}/CreateResponse` },
  { name: 'openai-responses', schema: `${OPENAI}/CompactResponseMethodPublicBody` },
  { name: 'anthropic-messages', schema: 'anthropic.MessageCreateParams.json#' },
  { name: 'google-generate', schema: `${VERTEX}/GoogleCloudAiplatformV1beta1GenerateContentRequest` },
] as const;

describe.skipIf(!hasSchemas)('the official schema', () => {
  it.each(OFFICIAL)('has no member that the table of $name does not list: $schema', ({ name, schema }) => {
    const root = DIALECTS[name].inbound.mirror?.members.root;
    expect(root && missingMembers(schema, root)).toEqual([]);
  });
});
