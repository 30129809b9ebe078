/** Tests each cloud's requests and answers against stand-ins that others have written. */
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bindingOf } from '@gateway/shared/clouds/access';
import type { UpstreamAccess } from '@gateway/shared/clouds/access';
import type { DialectName } from '@gateway/shared/catalog';
import { AWS_KEYS, KEY_FILE, TokenServer, accessOf } from '../../../test/clouds.ts';
import { makeModel, makeRoute, startNode } from '../../../test/request-path.ts';
import type { TestNode } from '../../../test/request-path.ts';
import { startUpstream } from '../../../test/upstream.ts';
import type { FakeUpstream } from '../../../test/upstream.ts';

const REPLY = 'The answer of the stand-in is forty-two.';
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const CALL = { name: 'get_weather', arguments: '{"city":"Oslo"}' };

let mock: LLMock;
let tokens: FakeUpstream;
let node: TestNode;
beforeAll(async () => {
  mock = new LLMock({ host: '127.0.0.1', port: 0, logLevel: 'silent' });
  mock.on({ predicate: ({ tools }) => (tools?.length ?? 0) > 0 }, { toolCalls: [CALL] });
  mock.on({ predicate: () => true }, { content: REPLY });
  await mock.start();
  const server = new TokenServer(3_600_000);
  tokens = await startUpstream(() => server.issue());
  node = await startNode();
  node.store.modelList = [makeModel({ families: ['chat_completions', 'messages', 'responses'] })];
});
afterAll(async () => {
  await node.close();
  await tokens.close();
  await mock.stop();
});

interface Cloud {
  protocol: DialectName;
  model: string;
  secret: string;
  base?: string;
  access: () => Partial<UpstreamAccess>;
}

const google = (): Partial<UpstreamAccess> => ({
  ...{ auth: 'GOOGLE_SERVICE_ACCOUNT', style: 'VERTEX', tokenUrl: `${tokens.origin}/token` },
});
const CLOUDS: Record<string, Cloud> = {
  'Amazon Bedrock': {
    protocol: 'anthropic-messages',
    model: 'anthropic.claude-sonnet-4-20250514-v1:0',
    secret: JSON.stringify(AWS_KEYS),
    access: () => ({ auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' }),
  },
  'Azure OpenAI with a dated version': {
    protocol: 'openai-chat',
    model: 'gpt-4o',
    secret: 'azure-secret',
    base: '/openai',
    access: () => ({
      ...{ auth: 'AZURE_API_KEY', pathTemplate: '/deployments/{model}{path}' },
      query: [{ name: 'api-version', value: '2024-10-21' }],
    }),
  },
  'Google Vertex AI': {
    protocol: 'google-generate',
    model: 'gemini-2.5-pro',
    secret: KEY_FILE,
    base: '/v1/projects/p/locations/global',
    access: google,
  },
};

const asText = (text: string): string => text.replaceAll(/[^a-z]/g, '');

for (const [name, { protocol, model, secret, base = '', access }] of Object.entries(CLOUDS))
  // The stand-in sends the events of Bedrock's stream without the `bytes` around them that AWS documents.
  for (const stream of name === 'Amazon Bedrock' ? [false] : [false, true])
    it(`${name} answers all three formats, with text and a tool; streamed: ${stream}`, async () => {
      const settings = accessOf(access());
      const origin = new URL(mock.url).origin;
      node.store.routes = [
        makeRoute(origin, {
          provider: { protocols: [protocol], baseUrl: origin + base, access: settings },
          route: { upstreamModel: model },
          credentials: [{ id: 'crd_1', origin, secret, binding: bindingOf(settings) }],
        }),
      ];
      const charged = node.ledger.charges.length;
      const messages = [{ role: 'user', content: 'Hello' }];
      const { name: tool } = CALL;
      const format = { name: tool, parameters: PARAMETERS };
      const calls = [
        { path: '/v1/chat/completions', more: { messages }, tool: { type: 'function', function: format } },
        {
          path: '/v1/messages',
          more: { messages, max_tokens: 50 },
          tool: { name: tool, input_schema: PARAMETERS },
        },
        { path: '/v1/responses', more: { input: 'Hello' }, tool: { type: 'function', ...format } },
      ];
      for (const each of calls) {
        const body = { model: 'swift', stream, ...each.more };
        const plain = await node.call({ path: each.path, body });
        expect(plain).toMatchObject({ status: 200, broken: false });
        if (!stream) expect(plain.text).toContain(REPLY);
        else expect(plain.text).toMatch(/\[DONE\]|message_stop|response\.completed/);
        const called = await node.call({ path: each.path, body: { ...body, tools: [each.tool] } });
        expect(called).toMatchObject({ status: 200, broken: false });
        expect(asText(called.text)).toContain('getweather');
      }
      expect(node.ledger.charges.length - charged).toBe(calls.length * 2);
    });
