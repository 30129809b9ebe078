/** The @google/genai client. */
import { GoogleGenAI } from '@google/genai';
import type { Content, GenerateContentConfig, GenerateContentResponse } from '@google/genai';
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
} from './conversation.ts';
import type { SdkClient, Target } from './conversation.ts';

const TOOL_CONFIG: GenerateContentConfig = {
  tools: [
    {
      functionDeclarations: [
        { name: TOOL_NAME, description: TOOL_DESCRIPTION, parametersJsonSchema: TOOL_SCHEMA },
      ],
    },
  ],
};

const connect = ({ url, key }: Target): GoogleGenAI =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } });

/** Sends the contents and returns the model's content. */
type Send = (contents: Content[]) => Promise<Content>;

const QUESTION: Content = { role: 'user', parts: [{ text: WEATHER_PROMPT }] };

/** Asks the question and returns the function call of the answer. */
async function callOf(send: Send) {
  const content = await send([QUESTION]);
  const call = content.parts?.find((part) => part.functionCall)?.functionCall;
  if (!call?.name) throw new IncompleteAnswer('no function was called');
  const id = call.id === undefined ? {} : { id: call.id };
  return { called: { name: call.name, input: call.args }, content, id };
}

/** Asks the question, answers the function call, and returns the final text. */
async function toolTrip(send: Send) {
  const { called, content, id } = await callOf(send);
  const functionResponse = { ...id, name: called.name, response: { output: TOOL_RESULT } };
  const second = await send([QUESTION, content, { role: 'user', parts: [{ functionResponse }] }]);
  return { ...called, text: (second.parts ?? []).map((part) => part.text ?? '').join('') };
}

/** Collects all parts of a streamed answer into one content. */
async function collect(stream: AsyncIterable<GenerateContentResponse>): Promise<Content> {
  const parts = [];
  for await (const { candidates } of stream) parts.push(...(candidates?.[0]?.content?.parts ?? []));
  return { role: 'model', parts };
}

function streamedSend(target: Target): Send {
  return async (contents) => {
    const { models } = connect(target);
    const { model } = target;
    return collect(await models.generateContentStream({ model, contents, config: TOOL_CONFIG }));
  };
}

export const google: SdkClient = {
  name: '@google/genai',
  whole: async (target) => {
    const { models } = connect(target);
    return (await models.generateContent({ model: target.model, contents: PLAIN_PROMPT })).text ?? '';
  },
  streamed: async (target) => {
    const { models } = connect(target);
    const stream = await models.generateContentStream({ model: target.model, contents: PLAIN_PROMPT });
    const answer = { text: '', pieces: 0, finish: '' };
    for await (const chunk of stream) {
      answer.text += chunk.text ?? '';
      answer.pieces += chunk.text ? 1 : 0;
      answer.finish = chunk.candidates?.[0]?.finishReason ?? answer.finish;
    }
    return answer;
  },
  toolTrip: (target) =>
    toolTrip(async (contents) => {
      const { models } = connect(target);
      const answer = await models.generateContent({ model: target.model, contents, config: TOOL_CONFIG });
      return answer.candidates?.[0]?.content ?? {};
    }),
  streamedCall: async (target) => (await callOf(streamedSend(target))).called,
  streamedToolTrip: (target) => toolTrip(streamedSend(target)),
  vision: async (target) => {
    const answer = await connect(target).models.generateContent({
      model: target.model,
      contents: [{ text: PICTURE_PROMPT }, { inlineData: { mimeType: 'image/png', data: PICTURE } }],
    });
    return answer.text ?? '';
  },
  structured: async (target) => {
    const answer = await connect(target).models.generateContent({
      model: target.model,
      contents: CITY_PROMPT,
      config: { responseMimeType: 'application/json', responseJsonSchema: CITY_SCHEMA },
    });
    return JSON.parse(answer.text ?? '') as unknown;
  },
};
