/**
 * Official SDKs through the whole house on every family beside chat, with an independent implementation
 * of the providers' APIs as upstream.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { LLMock } from '@copilotkit/aimock';
import { createCohere } from '@ai-sdk/cohere';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { GoogleGenAI } from '@google/genai';
import { embed, embedMany, generateImage, generateSpeech, rerank, transcribe } from 'ai';
import { CohereClient } from 'cohere-ai';
import OpenAI, { toFile } from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';
import { startTlsFront } from './tls.ts';

const VECTOR = [0.25, -0.5, 1];
const SPOKEN = 'Said and written down.';
const AUDIO = Buffer.from('audio bytes of no meaning').toString('base64');
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

let house: House;
let customer: Customer;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', chunkSize: 5 });

beforeAll(async () => {
  mock.onEmbedding(/.*/s, { embedding: VECTOR });
  mock.onImage(/.*/s, { image: { b64Json: PIXEL } });
  mock.onSpeech(/.*/s, { audio: AUDIO, format: 'mp3' });
  mock.onTranscription({ transcription: { text: SPOKEN, language: 'english', duration: 1 } });
  mock.onTranslation({ transcription: { text: SPOKEN, language: 'english', duration: 1 } });
  mock.onRerank(/.*/s, [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0.2 },
  ]);
  mock.on({ predicate: () => true }, { content: SPOKEN });
  // The client has only the single call.
  mock.mount('/v1beta/models/budget-plus:batchEmbedContents', { handleRequest: answerBatch });
  await mock.start();
  house = await openSharedHouse();
  const openai = `${mock.url}/v1`;
  await addUpstream(house, {
    name: 'vectors',
    baseUrl: openai,
    models: ['budget'],
    families: ['EMBEDDINGS', 'MODERATIONS'],
  });
  await addUpstream(house, {
    name: 'sound',
    baseUrl: openai,
    models: ['swift'],
    families: ['AUDIO', 'REALTIME'],
  });
  await addUpstream(house, {
    name: 'pictures',
    baseUrl: openai,
    models: ['balanced-vision'],
    families: ['IMAGES'],
  });
  await addUpstream(house, {
    name: 'rerank',
    baseUrl: `${mock.url}/v2`,
    models: ['budget-plus'],
    families: ['RERANK'],
  });
  await addUpstream(house, {
    name: 'google',
    baseUrl: `${mock.url}/v1beta`,
    models: ['budget-plus'],
    protocol: 'GENERATIVE_LANGUAGE',
    families: ['EMBEDDINGS'],
  });
});

afterAll(async () => {
  await mock.stop();
});

async function answerBatch(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const { requests } = JSON.parse(await text(request)) as { requests: unknown[] };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ embeddings: requests.map(() => ({ values: VECTOR })) }));
  return true;
}

/** A customer for each test, so that the usage log holds only the requests of the test. */
beforeEach(async () => {
  customer = await addCustomer(house, '5');
});

/** The customer's usage rows. Waits until there are `count` of them. */
async function usage(count: number): Promise<{ family: string; cost: string; status: string }[]> {
  for (;;) {
    const { rows } = await house.database.query<{ family: string; cost: string; status: string }>(
      'select family, cost::text, status from usage_entry where wallet_id = $1 order by at, request_id',
      [customer.walletId],
    );
    if (rows.length >= count) return rows;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function expectCharged(family: string, micros: number, times = 1): Promise<void> {
  const expected = { family, cost: String(micros), status: 'SUCCEEDED' };
  expect(await usage(times)).toEqual(Array.from({ length: times }, () => expected));
}

const openai = (): OpenAI => new OpenAI({ apiKey: customer.key, baseURL: `${house.url}/v1`, maxRetries: 0 });
const recording = () => toFile(Buffer.from('RIFF not really'), 'talk.wav');

describe('the openai SDK', () => {
  it('embeds with an upstream of its own format and of another format', async () => {
    const own = await openai().embeddings.create({ model: 'budget', input: ['a', 'b'] });
    expect(own.data.map(({ embedding }) => embedding)).toEqual([VECTOR, VECTOR]);
    const other = await openai().embeddings.create({
      model: 'budget-plus',
      input: 'a',
      encoding_format: 'float',
    });
    expect(other.data[0]?.embedding).toEqual(VECTOR);
    expect((await usage(2)).map(({ cost }) => cost)).toEqual(['30000', '50000']);
  });

  it('moderates a text', async () => {
    const answer = await openai().moderations.create({ model: 'budget', input: 'a' });
    expect(answer.results[0]?.flagged).toBe(false);
    await expectCharged('moderations', 30_000);
  });

  it('transcribes whole and streamed, and translates', async () => {
    const { audio } = openai();
    const whole = await audio.transcriptions.create({ model: 'swift', file: await recording() });
    expect(whole.text).toBe(SPOKEN);
    const stream = await audio.transcriptions.create({
      model: 'swift',
      file: await recording(),
      stream: true,
    });
    let heard = '';
    for await (const event of stream) if (event.type === 'transcript.text.delta') heard += event.delta;
    expect(heard).toBe(SPOKEN);
    const file = await recording();
    const verbose = { model: 'swift', file, response_format: 'verbose_json' } as const;
    expect((await audio.translations.create(verbose)).text).toBe(SPOKEN);
    await expectCharged('audio', 100_000, 3);
  });

  it('synthesises speech', async () => {
    const answer = await openai().audio.speech.create({ model: 'swift', input: 'Hi', voice: 'alloy' });
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(Buffer.from(await answer.arrayBuffer()).toString('base64')).toBe(AUDIO);
    await expectCharged('audio', 100_000);
  });

  it('generates pictures, and edits one or several', async () => {
    const { images } = openai();
    const model = 'balanced-vision';
    const drawn = await images.generate({ model, prompt: 'A dot' });
    expect(drawn.data?.[0]?.b64_json).toBe(PIXEL);
    const picture = () => toFile(Buffer.from(PIXEL, 'base64'), 'dot.png', { type: 'image/png' });
    const one = await images.edit({ model, prompt: 'Redder', image: await picture() });
    const two = await images.edit({ model, prompt: 'Both', image: [await picture(), await picture()] });
    expect([one, two].map(({ data }) => data?.[0]?.b64_json)).toEqual([PIXEL, PIXEL]);
    await expectCharged('images', 250_000, 3);
  });

  it('holds a realtime session over TLS in front of the gateway, and pays for each response', async () => {
    // The client's class supports only wss.
    const front = await startTlsFront(Number(new URL(house.url).port));
    const baseURL = `https://localhost:${front.port}/v1`;
    const client = new OpenAI({ apiKey: customer.key, baseURL, maxRetries: 0 });
    const options = { ca: front.certificate };
    const realtime = new OpenAIRealtimeWS({ model: 'swift', options }, client);
    const seen: string[] = [];
    let said = '';
    const failed = new Promise<never>((_resolve, reject) => realtime.on('error', reject));
    realtime.on('event', (event) => {
      seen.push(event.type);
      if (event.type === 'response.output_text.delta') said += event.delta;
      if (event.type === 'session.created')
        realtime.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be brief.' } });
      if (event.type !== 'session.updated') return;
      const content = [{ type: 'input_text' as const, text: 'Hi' }];
      realtime.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
      realtime.send({ type: 'response.create' });
    });
    const done = new Promise((resolve) => realtime.on('response.done', resolve));
    await Promise.race([done, failed]);
    realtime.close();
    await once(realtime.socket, 'close');
    await front.stop();
    expect(realtime.url.protocol).toBe('wss:');
    expect(said).toBe(SPOKEN);
    expect(seen).toEqual(expect.arrayContaining(['session.created', 'response.created', 'response.done']));
    await expectCharged('realtime', 100_000);
  });

  it('throws NotFound for a family that a model does not serve, with the served ones', async () => {
    const wrong = openai().embeddings.create({ model: 'swift', input: 'a' });
    await expect(wrong).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(wrong).rejects.toThrow('It serves: audio, realtime.');
  });
});

describe('a node that is being stopped', () => {
  it('lets the response of a session end, then closes the session with the code of a restart', async () => {
    const [node] = house.nodes;
    const headers = { authorization: `Bearer ${customer.key}` };
    const socket = new WebSocket(`${house.url.replace('http', 'ws')}/v1/realtime?model=swift`, { headers });
    await once(socket, 'message');
    const closed = once(socket, 'close');
    await node?.process.stop();
    expect((await closed)[0]).toBe(1012);
    await node?.restart();
  });
});

describe('the @google/genai SDK', () => {
  it('embeds one text and several with an upstream of its own format and of another format', async () => {
    const google = new GoogleGenAI({ apiKey: customer.key, httpOptions: { baseUrl: house.url } });
    for (const model of ['budget', 'budget-plus']) {
      const one = await google.models.embedContent({ model, contents: 'a' });
      expect(one.embeddings?.[0]?.values).toEqual(VECTOR);
      const two = await google.models.embedContent({ model, contents: ['a', 'b'] });
      expect(two.embeddings?.map(({ values }) => values)).toEqual([VECTOR, VECTOR]);
    }
    expect((await usage(4)).map(({ family }) => family)).toEqual(Array(4).fill('embeddings'));
  });
});

describe('the cohere-ai SDK', () => {
  it('reranks', async () => {
    const cohere = new CohereClient({ token: customer.key, environment: house.url });
    const documents = ['x', 'y'];
    const answer = await cohere.rerank({ model: 'budget-plus', query: 'y', documents }, { maxRetries: 0 });
    expect(answer.results.map(({ index, relevanceScore }) => [index, relevanceScore])).toEqual([
      [1, 0.9],
      [0, 0.2],
    ]);
    await expectCharged('rerank', 50_000);
  });
});

describe('the ai package', () => {
  const settings = () => ({ apiKey: customer.key, baseURL: `${house.url}/v1` });
  const ONCE = { maxRetries: 0 };

  it('embeds with both of its providers', async () => {
    const own = createOpenAI(settings()).embeddingModel('budget');
    expect((await embed({ model: own, value: 'a', ...ONCE })).embedding).toEqual(VECTOR);
    const google = createGoogle({ ...settings(), baseURL: `${house.url}/v1beta` });
    const model = google.embeddingModel('budget-plus');
    const { embeddings } = await embedMany({ model, values: ['a', 'b'], ...ONCE });
    expect(embeddings).toEqual([VECTOR, VECTOR]);
  });

  it('reranks, generates pictures, synthesises speech and transcribes', async () => {
    const model = createCohere(settings()).rerankingModel('budget-plus');
    const { ranking } = await rerank({ model, query: 'y', documents: ['x', 'y'], ...ONCE });
    expect(ranking.map(({ originalIndex }) => originalIndex)).toEqual([1, 0]);
    const provider = createOpenAI(settings());
    const drawn = await generateImage({ model: provider.image('balanced-vision'), prompt: 'A dot', ...ONCE });
    expect(drawn.image.base64).toBe(PIXEL);
    const spoken = await generateSpeech({ model: provider.speech('swift'), text: 'Hi', ...ONCE });
    expect(Buffer.from(spoken.audio.uint8Array).toString('base64')).toBe(AUDIO);
    const audio = Buffer.from('RIFF not really');
    const heard = await transcribe({ model: provider.transcription('swift'), audio, ...ONCE });
    expect(heard.text).toBe(SPOKEN);
    expect((await usage(4)).map(({ family }) => family)).toEqual(['rerank', 'images', 'audio', 'audio']);
  });
});
