/** The tables of the relayed families: what passes, what is left out, and what is refused. */
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
import type { MemberTable } from '../dialects/member-table.ts';
import { replaceMembers } from './json-members.ts';
import { refusePriced, refuseStored, unknownOf } from './mirror.ts';
import { RELAY_MEMBERS } from './relay-members.ts';
import { parseRequestBody } from './request-body.ts';

const MODEL = makeModel();
const TABLES = Object.entries(RELAY_MEMBERS).map(([name, table]) => ({ name, table }));

/** The part of a body that is sent. Throws the refusal of the gateway. */
function send(table: MemberTable, text: string, model = MODEL): string {
  const body = parseRequestBody(Buffer.from(text), table);
  refuseStored(body);
  refusePriced(body, model);
  const removals = unknownOf(body);
  return String(replaceMembers(body.bytes, body.members, { edits: new Map(), removals }));
}

describe.each(TABLES)('the table of $name', ({ table }) => {
  // The search table has all objects of the responses format, and needs those of a conversation.
  const paths = pathsOf(table.lines);
  const lines = table.lines.filter(([object]) => table !== RELAY_MEMBERS.search || paths.has(object));
  const entries = entriesOf(lines);

  it('names the page that documents each line', () => {
    for (const [object, , members, source] of lines)
      expect(source, `${object} ${members}`).toMatch(/^https:\/\/\S+$/);
  });

  it('sends, refuses or prices each member as its kind says', () => {
    for (const entry of entries.filter(({ kind }) => kind !== 'ours')) {
      const text = bodyWith(entry.path, `"${entry.name}" : ${valueOf(entry)}`);
      if (entry.kind === 'stored') expect(() => send(table, text), text).toThrow('stored at a provider');
      else if (entry.kind === 'priced') {
        expect(() => send(table, text), text).toThrow('is not sold with');
        const tier = entry.type?.replace(/_20990101$/, '') ?? 'value';
        const seller = makeModel({ limits: { ...MODEL.limits, serviceTiers: [tier] } });
        expect(send(table, text, seller), text).toBe(text);
      } else expect(send(table, text), text).toBe(text);
    }
  });

  it('leaves out an unknown member on every level', () => {
    for (const [object, path] of paths) {
      const member = '"new~/member" : {"a":[1,{"b":2}]}';
      const text = bodyWith(path, member);
      const without = text.replace(object === 'request' ? ` ,\t${member}` : member, '');
      expect(send(table, text), text).toBe(without);
    }
  });
});

describe('a price of a picture', () => {
  const ask = (members: string) => () => send(RELAY_MEMBERS.imageEdits, `{"model":"m",${members}}`);

  it.each([
    '"quality":"hd"',
    '"size":"1792x1024"',
    '"size":"3840x2160"',
    '"size":"99999x99999"',
    '"size":"1024x1024x9"',
    '"size":"4K"',
    '"input_fidelity":"high"',
    '"resolution":"4k"',
    '"width":512',
    '"quality":["low"]',
  ])('is refused above what a model chooses itself: %s', (member) => {
    expect(ask(member)).toThrow('is not sold with');
  });

  it.each(['"quality":"high"', '"size":"1536x1024"', '"size":"1440*720"', '"input_fidelity":"low"'])(
    'is not refused at or below that: %s',
    (member) => expect(ask(member)).not.toThrow(),
  );
});

const OPENAI = 'openai.openapi.json#components/schemas';
const OFFICIAL = [
  ['embeddings', 'CreateEmbeddingRequest'],
  ['moderations', 'CreateModerationRequest'],
  ['images', 'CreateImageRequest'],
  ['imageEdits', 'CreateImageEditRequest'],
  ['imageEdits', 'EditImageBodyJsonParam'],
  ['speech', 'CreateSpeechRequest'],
  ['transcriptions', 'CreateTranscriptionRequest'],
  ['translations', 'CreateTranslationRequest'],
] as const;

describe.skipIf(!hasSchemas)('the official schema', () => {
  it.each(OFFICIAL)('has no member that the table of %s does not list: %s', (name, schema) => {
    expect(missingMembers(`${OPENAI}/${schema}`, RELAY_MEMBERS[name].root)).toEqual([]);
  });
});
