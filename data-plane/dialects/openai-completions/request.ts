/** A legacy text completion request, read as a chat of one user message. */
import type { ChatRequest } from '../canonical.ts';
import { Fields, wrong } from '../fields.ts';
import type { JsonObject } from '../fields.ts';
import { scalarKeeper } from '../scalars.ts';

const CHOICES_MAX = 128;

/** What chat completions know under the same name: given on to upstreams of that format. */
const CHAT_FIELDS: ReadonlySet<string> = new Set(['/logit_bias']);

/**
 * Reads a request. Throws `invalid_request` naming the pointer of what is wrong, and for several prompts at
 * once.
 */
export function decodeRequest(wire: JsonObject): ChatRequest {
  const fields = new Fields(wire);
  const prompt = readPrompt(fields);
  const pointers: ChatRequest['pointers'] = {};
  const scalars: Partial<ChatRequest> = {};
  const keep = scalarKeeper(scalars, pointers, (field) => fields.pointer(field));
  const top = fields.integer('logprobs');
  const stop = fields.take('stop');
  const choices = fields.integer('n') ?? 1;
  if (choices < 1 || choices > CHOICES_MAX) throw wrong(fields.pointer('n'), `between 1 and ${CHOICES_MAX}`);
  const maxTokens = fields.integer('max_tokens');
  if (maxTokens !== undefined && maxTokens < 0) throw wrong(fields.pointer('max_tokens'), 'at least 0');
  keep('choices', fields.has('n') ? choices : undefined, 'n');
  keep('maxOutputTokens', maxTokens, 'max_tokens');
  keep('temperature', fields.number('temperature'), 'temperature');
  keep('topP', fields.number('top_p'), 'top_p');
  keep('seed', fields.integer('seed'), 'seed');
  keep('presencePenalty', fields.number('presence_penalty'), 'presence_penalty');
  keep('frequencyPenalty', fields.number('frequency_penalty'), 'frequency_penalty');
  keep('user', fields.string('user'), 'user');
  keep('logprobs', top === undefined ? undefined : { top }, 'logprobs');
  keep('stop', typeof stop === 'string' ? [stop] : fields.strings('stop'), 'stop');
  const echo = fields.boolean('echo');
  const options = fields.object('stream_options');
  const usageInStream = options?.boolean('include_usage');
  options?.ignore('include_obfuscation');
  return {
    model: fields.requiredString('model'),
    stream: fields.boolean('stream') ?? false,
    choices: 1,
    tools: [],
    stop: [],
    messages: [{ role: 'user', parts: [{ kind: 'text', text: prompt, at: '/prompt' }], at: '/prompt' }],
    ...scalars,
    pointers,
    shape: { ...(usageInStream ? { usageInStream } : {}), ...(echo ? { echo: prompt } : {}) },
    extras: fields
      .leftovers()
      .map((left) => ({ dialect: CHAT_FIELDS.has(left.pointer) ? 'openai-chat' : null, ...left })),
  };
}

/** One text, or a list of one. Token numbers mean nothing to the models of today. */
function readPrompt(fields: Fields): string {
  const prompt = fields.take('prompt');
  const [first, ...rest]: unknown[] = Array.isArray(prompt) ? prompt : [prompt];
  if (typeof first !== 'string') throw wrong(fields.pointer('prompt'), 'a text');
  if (rest.length > 0) throw wrong(fields.pointer('prompt'), 'one text: send one request for each prompt');
  return first;
}
