/**
 * Official SDKs as clients of the whole house, with an independent implementation of the providers' APIs as
 * upstream.
 */
import { LLMock } from '@copilotkit/aimock';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addUpstream } from './house.ts';
import type { Customer, House } from './house.ts';
import { openSharedHouse } from './house/shared.ts';

const TEXT = 'The quick brown fox jumps over the lazy dog, again and again, until the stream ends.';

let house: House;
let customer: Customer;
const mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent', chunkSize: 5 });

beforeAll(async () => {
  mock.on(
    {
      predicate: (request) =>
        JSON.stringify(request.messages).includes('weather') && !hasToolResult(request.messages),
    },
    { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Paris"}' }] },
  );
  mock.on({ predicate: () => true }, { content: TEXT });
  await mock.start();
  house = await openSharedHouse();
  await addUpstream(house, { baseUrl: `${mock.url}/v1`, models: ['budget', 'swift', 'balanced'] });
  customer = await addCustomer(house, '10');
});

afterAll(async () => {
  await mock.stop();
});

function hasToolResult(messages: { role: string }[]): boolean {
  return messages.some((message) => message.role === 'tool');
}

const openai = (key = customer.key): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${house.url}/v1`, maxRetries: 0 });

describe('the openai SDK', () => {
  it("gets a whole answer, with the request id in the SDK's own member", async () => {
    const answer = await openai().chat.completions.create({
      model: 'budget',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(answer.choices[0]?.message.content).toBe(TEXT);
    expect(answer._request_id).toMatch(/\S{20,}/);
  });

  it('streams, and gets the usage only when it requests the usage', async () => {
    const ask = async (
      includeUsage: boolean,
    ): Promise<{ text: string; usage: boolean; finish: string | null }> => {
      const stream = await openai().chat.completions.create({
        model: 'budget',
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
        ...(includeUsage && { stream_options: { include_usage: true } }),
      });
      const seen = { text: '', usage: false, finish: null as string | null };
      for await (const chunk of stream) {
        seen.text += chunk.choices[0]?.delta.content ?? '';
        seen.finish = chunk.choices[0]?.finish_reason ?? seen.finish;
        seen.usage ||= Boolean(chunk.usage);
      }
      return seen;
    };
    expect(await ask(false)).toEqual({ text: TEXT, usage: false, finish: 'stop' });
    expect(await ask(true)).toMatchObject({ text: TEXT, finish: 'stop' });
  });

  it('calls a tool and sends the result', async () => {
    const tools: OpenAI.ChatCompletionTool[] = [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          parameters: { type: 'object', properties: { city: { type: 'string' } } },
        },
      },
    ];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'What is the weather?' }];
    const first = await openai().chat.completions.create({ model: 'balanced', messages, tools });
    const call = first.choices[0]?.message.tool_calls?.[0];
    expect(call).toMatchObject({ function: { name: 'get_weather', arguments: '{"city":"Paris"}' } });
    const second = await openai().chat.completions.create({
      model: 'balanced',
      tools,
      messages: [
        ...messages,
        first.choices[0]?.message ?? { role: 'assistant' },
        { role: 'tool', tool_call_id: call?.id ?? '', content: 'Sunny' },
      ],
    });
    expect(second.choices[0]?.message.content).toBe(TEXT);
  });

  it('lists the catalog and one model of it', async () => {
    const ids = (await openai().models.list()).data.map((model) => model.id);
    expect(ids).toContain('flagship-max');
    expect(ids).toHaveLength(10);
    expect((await openai().models.retrieve('budget')).id).toBe('budget');
  });

  it('throws its own error class for every refusal', async () => {
    const ask = (client: OpenAI, model = 'budget'): Promise<unknown> =>
      client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] });
    const poor = await addCustomer(house, '0');
    await expect(ask(openai(`sk-${'0'.repeat(48)}`))).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    await expect(ask(openai(), 'no-such-model')).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await expect(ask(openai(poor.key))).rejects.toMatchObject({ status: 402, code: 'insufficient_quota' });
    await expect(openai().files.list()).rejects.toMatchObject({ status: 501, code: 'not_implemented' });
    await expect(
      openai().chat.completions.create({ model: 'budget', messages: 'no list' as never }),
    ).rejects.toBeInstanceOf(OpenAI.BadRequestError);
  });
});
