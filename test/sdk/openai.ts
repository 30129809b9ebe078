/** The openai SDK, with chat completions and with responses. */
import OpenAI from 'openai';
import {
  CITY_PROMPT,
  CITY_SCHEMA,
  IncompleteAnswer,
  PICTURE,
  PICTURE_PROMPT,
  PLAIN_PROMPT,
  TOOL_DESCRIPTION,
  TOOL_NAME,
  TOOL_RESULT,
  TOOL_SCHEMA,
  WEATHER_PROMPT,
  readInput,
} from './conversation.ts';
import type { SdkClient, Target } from './conversation.ts';

const FORMAT = { name: 'city', schema: CITY_SCHEMA, strict: true };
const CHAT_TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: { name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA, strict: true },
  },
];
const TOOLS: OpenAI.Responses.Tool[] = [
  { type: 'function', name: TOOL_NAME, description: TOOL_DESCRIPTION, parameters: TOOL_SCHEMA, strict: true },
];

const connect = ({ url, key }: Target): OpenAI =>
  new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });

const user = (
  content: OpenAI.ChatCompletionUserMessageParam['content'],
): OpenAI.ChatCompletionMessageParam => ({ role: 'user', content });

/** Sends the messages and returns the model's message. */
type SendChat = (messages: OpenAI.ChatCompletionMessageParam[]) => Promise<OpenAI.ChatCompletionMessage>;

/** Asks the question and returns the tool call of the answer. */
async function chatCall(send: SendChat) {
  const message = await send([user(WEATHER_PROMPT)]);
  const call = message.tool_calls?.[0];
  if (call?.type !== 'function') throw new IncompleteAnswer('no function was called');
  const called = { name: call.function.name, input: readInput(call.function.arguments) };
  return { called, message, id: call.id };
}

/** Asks the question, answers the tool call, and returns the final text. */
async function chatToolTrip(send: SendChat) {
  const { called, message, id } = await chatCall(send);
  const result = { role: 'tool' as const, tool_call_id: id, content: TOOL_RESULT };
  const second = await send([user(WEATHER_PROMPT), message, result]);
  return { ...called, text: second.content ?? '' };
}

async function chatMessage(
  completion: Promise<OpenAI.ChatCompletion>,
): Promise<OpenAI.ChatCompletionMessage> {
  const [choice] = (await completion).choices;
  if (!choice) throw new Error('no choice');
  return choice.message;
}

function streamedChat(target: Target): SendChat {
  return (messages) => {
    const { completions } = connect(target).chat;
    const stream = completions.stream({ model: target.model, messages, tools: CHAT_TOOLS });
    return chatMessage(stream.finalChatCompletion());
  };
}

export const openaiChat: SdkClient = {
  name: 'openai chat.completions',
  whole: async (target) => {
    const { chat } = connect(target);
    const messages = [user(PLAIN_PROMPT)];
    return (await chatMessage(chat.completions.create({ model: target.model, messages }))).content ?? '';
  },
  streamed: async (target) => {
    const stream = await connect(target).chat.completions.create({
      model: target.model,
      messages: [user(PLAIN_PROMPT)],
      stream: true,
    });
    const answer = { text: '', pieces: 0, finish: '' };
    for await (const { choices } of stream) {
      const text = choices[0]?.delta.content ?? '';
      answer.text += text;
      answer.pieces += text ? 1 : 0;
      answer.finish = choices[0]?.finish_reason ?? answer.finish;
    }
    return answer;
  },
  toolTrip: (target) =>
    chatToolTrip((messages) =>
      chatMessage(
        connect(target).chat.completions.create({ model: target.model, messages, tools: CHAT_TOOLS }),
      ),
    ),
  streamedCall: async (target) => (await chatCall(streamedChat(target))).called,
  streamedToolTrip: (target) => chatToolTrip(streamedChat(target)),
  vision: async (target) => {
    const image_url = { url: `data:image/png;base64,${PICTURE}` };
    const messages = [
      user([
        { type: 'text', text: PICTURE_PROMPT },
        { type: 'image_url', image_url },
      ]),
    ];
    const completion = connect(target).chat.completions.create({ model: target.model, messages });
    return (await chatMessage(completion)).content ?? '';
  },
  structured: async (target) => {
    const completion = await connect(target).chat.completions.parse({
      model: target.model,
      messages: [user(CITY_PROMPT)],
      response_format: { type: 'json_schema', json_schema: FORMAT },
    });
    return completion.choices[0]?.message.parsed;
  },
};

/** Sends the items and returns the whole answer. */
type Send = (input: OpenAI.Responses.ResponseInput) => Promise<OpenAI.Responses.Response>;

const QUESTION: OpenAI.Responses.ResponseInputItem = { role: 'user', content: WEATHER_PROMPT };

/** Asks the question and returns the function call of the answer. */
async function callOf(send: Send) {
  const { output } = await send([QUESTION]);
  const call = output.find((item) => item.type === 'function_call');
  if (!call) throw new IncompleteAnswer('no function was called');
  return { called: { name: call.name, input: readInput(call.arguments) }, output, id: call.call_id };
}

/** Asks the question, answers the function call, and returns the final text. */
async function toolTrip(send: Send) {
  const { called, output, id } = await callOf(send);
  const second = await send([
    QUESTION,
    ...(output as OpenAI.Responses.ResponseInputItem[]),
    { type: 'function_call_output', call_id: id, output: TOOL_RESULT },
  ]);
  return { ...called, text: second.output_text };
}

function streamedResponse(target: Target): Send {
  return (input) => {
    const { responses } = connect(target);
    return responses.stream({ model: target.model, input, tools: TOOLS }).finalResponse();
  };
}

export const openaiResponses: SdkClient = {
  name: 'openai responses',
  whole: async (target) =>
    (await connect(target).responses.create({ model: target.model, input: PLAIN_PROMPT })).output_text,
  streamed: async (target) => {
    const { model } = target;
    const stream = await connect(target).responses.create({ model, input: PLAIN_PROMPT, stream: true });
    const answer = { text: '', pieces: 0, finish: '' };
    for await (const event of stream) {
      if (event.type === 'response.output_text.delta') {
        answer.text += event.delta;
        answer.pieces += 1;
      }
      if (event.type === 'response.failed') throw new IncompleteAnswer('the SDK did not report the failure');
      if (event.type === 'response.completed') answer.finish = event.response.status ?? '';
    }
    return answer;
  },
  toolTrip: (target) =>
    toolTrip((input) => connect(target).responses.create({ model: target.model, input, tools: TOOLS })),
  streamedCall: async (target) => (await callOf(streamedResponse(target))).called,
  streamedToolTrip: (target) => toolTrip(streamedResponse(target)),
  vision: async (target) => {
    const image_url = `data:image/png;base64,${PICTURE}`;
    const answer = await connect(target).responses.create({
      model: target.model,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: PICTURE_PROMPT },
            { type: 'input_image', image_url, detail: 'auto' },
          ],
        },
      ],
    });
    return answer.output_text;
  },
  structured: async (target) => {
    const answer = await connect(target).responses.parse({
      model: target.model,
      input: CITY_PROMPT,
      text: { format: { type: 'json_schema', ...FORMAT } },
    });
    return answer.output_parsed;
  },
};
