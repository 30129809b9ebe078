/** A translated request carries every part of the conversation or names it as dropped. */
import type { DialectName } from '@gateway/shared/catalog';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BARE_REQUEST } from '../../test/dialect-samples.ts';
import type { ChatRequest, Media, Message, Part, PartBody } from './canonical.ts';
import { DIALECTS } from './index.ts';

const NAMES = Object.keys(DIALECTS) as DialectName[];

/** Something in a request: `text` must be in the body, or one of `pointers` among the drops. */
interface Carried {
  text: string;
  pointers: string[];
}

/** Builds a request whose parts each hold a text of their own, and lists these texts. */
class Builder {
  readonly carried: Carried[] = [];
  #count = 0;

  text(...pointers: string[]): string {
    this.#count += 1;
    const text = `mark${this.#count}z`;
    this.carried.push({ text, pointers });
    return text;
  }
}

type Role = Message['role'];
type MakePart = (builder: Builder, at: string) => PartBody;

const dialect = fc.constantFrom(...NAMES);

/** An encoded value of the upstream's thinking, in the form that each provider sends. */
const sealFor = (name: DialectName, text: string): string =>
  name === 'openai-chat' ? JSON.stringify([{ type: 'reasoning.encrypted', data: text }]) : text;

const text: fc.Arbitrary<MakePart> = fc.constant((builder, at) => ({ kind: 'text', text: builder.text(at) }));
const refusal: fc.Arbitrary<MakePart> = fc.constant((builder, at) => ({
  kind: 'refusal',
  text: builder.text(at),
}));
const native: fc.Arbitrary<MakePart> = fc
  .tuple(dialect, fc.constantFrom('input_x', 'output_x', 'x'))
  .map(([name, type]): MakePart => (builder, at) => ({
    kind: 'native',
    dialect: name,
    value: { type, x: builder.text(at) },
  }));
const thinking: fc.Arbitrary<MakePart> = fc
  .tuple(dialect, fc.boolean())
  .map(([name, isSealed]): MakePart => (builder, at) => ({
    kind: 'reasoning',
    text: builder.text(at),
    ...(isSealed ? { seal: { dialect: name, value: sealFor(name, builder.text(at)) } } : {}),
  }));
const TYPES: Record<Media['type'], string> = {
  image: 'image/png',
  audio: 'audio/wav',
  video: 'video/mp4',
  file: 'application/pdf',
};
const media: fc.Arbitrary<MakePart> = fc
  .record({
    type: fc.constantFrom('image', 'audio', 'video', 'file'),
    isInline: fc.boolean(),
    isNamed: fc.boolean(),
    detail: fc.option(fc.constantFrom('low', 'high'), { nil: undefined }),
  })
  .map(({ type, isInline, isNamed, detail }): MakePart => (builder, at) => {
    const content = builder.text(at);
    const names = { detail: `${at}/detail`, name: `${at}/name` };
    if (detail) builder.carried.push({ text: `"${detail}"`, pointers: [at, names.detail] });
    const source = isInline ? { base64: content } : { url: `https://example.com/${content}` };
    return {
      kind: 'media',
      media: {
        type,
        mediaType: TYPES[type],
        source,
        ...(isNamed ? { name: builder.text(at, names.name) } : {}),
        ...(detail ? { detail } : {}),
        pointers: names,
      },
    };
  });
const call: fc.Arbitrary<MakePart> = fc.constant((builder, at) => {
  const id = builder.text(at);
  return { kind: 'tool-call', id, name: builder.text(at), text: JSON.stringify({ a: builder.text(at) }) };
});
const result: fc.Arbitrary<MakePart> = fc
  .array(fc.oneof(text, media, native), { maxLength: 3 })
  .map((parts): MakePart => (builder, at) => ({
    kind: 'tool-result',
    id: builder.text(at),
    name: 'f',
    parts: parts.map((make, index) => locate(make, builder, `${at}/parts/${index}`)),
  }));

function locate(make: MakePart, builder: Builder, at: string): Part {
  return { ...make(builder, at), at };
}

const PARTS: Record<Role, fc.Arbitrary<MakePart>> = {
  system: fc.oneof(text, media, native),
  developer: fc.oneof(text, media, native),
  user: fc.oneof(text, media, native, result),
  assistant: fc.oneof(text, refusal, native, thinking, media, call),
};

const message = fc
  .tuple(fc.constantFrom<Role>('system', 'developer', 'user', 'assistant'), fc.boolean())
  .chain(([role, isNamed]) =>
    fc.array(PARTS[role], { minLength: 1, maxLength: 5 }).map((parts) => ({ role, isNamed, parts })),
  );

/** Requests with the texts that they hold. Each message has a text, because an empty one is left out. */
const requests = fc.array(message, { minLength: 1, maxLength: 6 }).map((list) => {
  const builder = new Builder();
  const messages = list.map(({ role, isNamed, parts }, index): Message => {
    const at = `/messages/${index}`;
    const first: Part = { kind: 'text', text: builder.text(`${at}/first`), at: `${at}/first` };
    const others = parts.map((make, part) => locate(make, builder, `${at}/${part}`));
    const name = isNamed ? { name: builder.text(`${at}/name`) } : {};
    return { role, at, parts: [first, ...others], ...name };
  });
  const request: ChatRequest = { ...BARE_REQUEST, messages };
  return { request, carried: builder.carried };
});

describe.each(NAMES)('a request for an upstream of %s', (name) => {
  it('carries every part, author and file name, or names it as dropped', () => {
    fc.assert(
      fc.property(requests, ({ request, carried }) => {
        const { body, dropped } = DIALECTS[name].outbound.encodeRequest(request, 'm');
        const sent = JSON.stringify(body);
        const lost = carried.filter(
          (one) => !sent.includes(one.text) && !one.pointers.some((pointer) => dropped.includes(pointer)),
        );
        expect(lost).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('an assistant message that a client sends back', () => {
  const UPSTREAMS = NAMES.filter((name) => name !== 'openai-chat');
  const decode = (answer: object): ChatRequest =>
    DIALECTS['openai-chat'].inbound.decodeRequest(
      {
        model: 'm',
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', ...answer },
        ],
      },
      {},
    );

  it.each(UPSTREAMS)('names pictures and annotations that %s cannot carry', (name) => {
    const request = decode({
      content: 'here',
      images: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://example.com' } }],
    });
    const { dropped } = DIALECTS[name].outbound.encodeRequest(request, 'm');
    expect(dropped).toEqual(['/messages/1/images', '/messages/1/annotations']);
  });

  it.each(UPSTREAMS)('names no empty lists for %s', (name) => {
    const request = decode({ content: 'here', images: [], annotations: [], refusal: null });
    expect(DIALECTS[name].outbound.encodeRequest(request, 'm').dropped).toEqual([]);
  });
});
