/** Chat requests of every client format: decoded and encoded for every upstream, or refused. */
import { GatewayError } from '@gateway/shared/failures';
import { checkConversation } from '../../../data-plane/dialects/conversation.ts';
import type { ChatRequest } from '../../../data-plane/dialects/canonical.ts';
import { DIALECTS } from '../../../data-plane/dialects/index.ts';
import { parseRequestBody } from '../../../data-plane/exchange/request-body.ts';
import { INBOUND } from '../clients.ts';
import { FORMATS, formatOf, letterOf, recordedRequestsByFormat } from '../recorded.ts';
import type { FuzzTarget } from '../target.ts';

const PATH = { model: 'm', stream: false, query: new URLSearchParams() };

export const target: FuzzTarget = {
  run(input) {
    const request = decoded(input);
    if (!request) return;
    for (const { outbound } of Object.values(DIALECTS)) {
      try {
        JSON.stringify(outbound.encodeRequest(request, 'upstream-model').body);
        outbound.pathFor('upstream-model', request.stream);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    }
  },
  seeds: seeds(),
  tokens: [
    'role',
    'assistant',
    'user',
    'system',
    'tool',
    'content',
    'type',
    'text',
    'parts',
    'tools',
    'input',
  ],
  recorded: recordedRequestsByFormat,
};

function decoded(input: Buffer): ChatRequest | undefined {
  try {
    const body = parseRequestBody(input.subarray(1));
    const request = INBOUND[formatOf(input)].decodeRequest(body.value, PATH);
    checkConversation(request);
    return request;
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

function seeds(): string[] {
  const messages = [
    { role: 'system', content: 's' },
    { role: 'user', content: [{ type: 'text', text: 'u' }] },
    { role: 'assistant', content: null, tool_calls: [call()] },
    { role: 'tool', tool_call_id: 'c1', content: 'r' },
  ];
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
  const bodies: Record<(typeof FORMATS)[number], unknown> = {
    'openai-chat': { model: 'm', messages, tools: [tool], stream: true, n: 2, stop: ['a'] },
    'openai-responses': {
      model: 'm',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'u' }] },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c1', output: 'r' },
      ],
      tools: [{ type: 'function', name: 'f', parameters: {}, strict: false }],
    },
    'anthropic-messages': {
      model: 'm',
      max_tokens: 9,
      system: [{ type: 'text', text: 's' }],
      messages: [
        { role: 'user', content: 'u' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'r' }] },
      ],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    },
    'google-generate': {
      systemInstruction: { parts: [{ text: 's' }] },
      contents: [
        {
          role: 'user',
          parts: [{ text: 'u' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }],
        },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: { a: 1 } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { b: 2 } } }] },
      ],
      tools: [{ functionDeclarations: [{ name: 'f', parameters: { type: 'OBJECT' } }] }],
      generationConfig: { temperature: 0.5, candidateCount: 2 },
    },
    completions: { model: 'm', prompt: 'p', max_tokens: 5, n: 1, echo: false },
    compact: { model: 'm', input: [{ role: 'user', content: 'u' }], instructions: 'i' },
  };
  return FORMATS.map((format) => letterOf(format) + JSON.stringify(bodies[format]));
}

function call(): unknown {
  return { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
}
