/** A chat as a request that people can run: with curl, or with the SDK of OpenAI. */
import type { ChatMessage } from './documents.ts';
import type { settingsFor } from './settings.ts';

/** A chat and its settings, from which a request is written. */
export interface RequestParts {
  /** Base address of the data plane. */
  address: string;
  model: string;
  messages: readonly Pick<ChatMessage, 'role' | 'content' | 'attachments'>[];
  settings: ReturnType<typeof settingsFor>;
}

/** The body of the chat-completions request, as the Playground sends it. */
export function requestBody({ model, messages, settings }: RequestParts): Record<string, unknown> {
  const { systemPrompt, temperature, maxTokens, topP, effort, stop, seed } = settings ?? {};
  const system = systemPrompt ? [{ role: 'system', content: systemPrompt }] : [];
  const parameters = {
    temperature,
    max_completion_tokens: maxTokens,
    top_p: topP,
    reasoning_effort: effort?.toLowerCase(),
    stop,
    seed,
  };
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
  const sent = messages
    .filter((message) => message.role === 'USER' || message.content !== '')
    .map(({ role, content, attachments }) => ({
      role: role.toLowerCase(),
      content: attachments.length === 0 ? content : partsOf(content, attachments),
    }));
  return { model, stream: true, ...Object.fromEntries(set), messages: [...system, ...sent] };
}

function partsOf(content: string, attachments: ChatMessage['attachments']): object[] {
  const pictures = attachments.map(({ mimeType, dataBase64 }) => ({
    type: 'image_url',
    image_url: { url: `data:${mimeType};base64,${dataBase64}` },
  }));
  return [{ type: 'text', text: content }, ...pictures];
}

/** The request as a curl command. */
export function curlOf(parts: RequestParts): string {
  const body = JSON.stringify(requestBody(parts), null, 2).replaceAll("'", "'\\''");
  return [
    `curl ${parts.address}/v1/chat/completions \\`,
    '  -H "Authorization: Bearer $GATEWAY_KEY" \\',
    "  -H 'content-type: application/json' \\",
    `  -d '${body}'`,
  ].join('\n');
}

/** The request as a program in TypeScript. */
export function typescriptOf(parts: RequestParts): string {
  return [
    "import OpenAI from 'openai';",
    '',
    'const client = new OpenAI({',
    `  baseURL: '${parts.address}/v1',`,
    '  apiKey: process.env.GATEWAY_KEY,',
    '});',
    `const stream = await client.chat.completions.create(${JSON.stringify(requestBody(parts), null, 2)});`,
    "for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');",
  ].join('\n');
}

/** The request as a program in Python. */
export function pythonOf(parts: RequestParts): string {
  const { stream: _, ...members } = requestBody(parts);
  const lines = Object.entries(members).map(([name, value]) => {
    // The values are texts, numbers, lists and objects of them, which Python writes like JSON.
    const text = JSON.stringify(value, null, 4).replaceAll('\n', '\n    ');
    return `    ${name}=${text},`;
  });
  return [
    'import os',
    '',
    'from openai import OpenAI',
    '',
    `client = OpenAI(base_url="${parts.address}/v1", api_key=os.environ["GATEWAY_KEY"])`,
    'stream = client.chat.completions.create(',
    ...lines,
    '    stream=True,',
    ')',
    'for chunk in stream:',
    '    if chunk.choices:',
    '        print(chunk.choices[0].delta.content or "", end="", flush=True)',
  ].join('\n');
}
