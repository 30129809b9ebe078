/** Decodes a legacy completions request as a chat with one user message. */
import type { ChatRequest } from '../canonical.ts';
import { Fields, fieldError } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { readChoices, readStop, readStreamOptions } from '../openai-requests.ts';
import { scalarKeeper } from '../scalars.ts';

/** Unknown fields that chat completions have under the same name: passed on to upstreams of that format. */
const CHAT_FIELDS: ReadonlySet<string> = new Set(['/logit_bias']);

/**
 * Decodes a request. Throws `invalid_request` with the pointer of an invalid field, also for several
 * prompts.
 */
export function decodeRequest(wire: JsonObject): ChatRequest {
  const fields = new Fields(wire);
  const prompt = readPrompt(fields);
  const pointers: ChatRequest['pointers'] = {};
  const scalars: Partial<ChatRequest> = {};
  const keep = scalarKeeper(scalars, pointers, (field) => fields.pointer(field));
  const top = fields.integer('logprobs');
  const choices = readChoices(fields);
  const maxTokens = fields.integer('max_tokens');
  if (maxTokens !== undefined && maxTokens < 0) throw fieldError(fields.pointer('max_tokens'), 'at least 0');
  keep('choices', fields.has('n') ? choices : undefined, 'n');
  keep('maxOutputTokens', maxTokens, 'max_tokens');
  keep('temperature', fields.number('temperature'), 'temperature');
  keep('topP', fields.number('top_p'), 'top_p');
  keep('seed', fields.integer('seed'), 'seed');
  keep('presencePenalty', fields.number('presence_penalty'), 'presence_penalty');
  keep('frequencyPenalty', fields.number('frequency_penalty'), 'frequency_penalty');
  keep('user', fields.string('user'), 'user');
  keep('logprobs', top === undefined ? undefined : { top }, 'logprobs');
  keep('stop', readStop(fields), 'stop');
  const echo = fields.boolean('echo');
  const streamOptions = readStreamOptions(fields);
  return {
    model: fields.requiredString('model'),
    stream: fields.boolean('stream') ?? false,
    choices: 1,
    tools: [],
    stop: [],
    messages: [{ role: 'user', parts: [{ kind: 'text', text: prompt, at: '/prompt' }], at: '/prompt' }],
    ...scalars,
    pointers,
    shape: { ...streamOptions, ...(echo ? { echo: prompt } : {}) },
    extras: fields
      .leftovers()
      .map((leftover) => ({
        dialect: CHAT_FIELDS.has(leftover.pointer) ? 'openai-chat' : null,
        ...leftover,
      })),
  };
}

/**
 * Reads `prompt`: one text, or a list of one. Token ids are refused, because chat models do not take them.
 */
function readPrompt(fields: Fields): string {
  const prompt = fields.take('prompt');
  const [first, ...rest]: unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  if (typeof first !== 'string') throw fieldError(fields.pointer('prompt'), 'a text');
  if (rest.length > 0)
    throw fieldError(fields.pointer('prompt'), 'one text: send one request for each prompt');
  return first;
}
