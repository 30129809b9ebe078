/** The @google/genai client. */
import { GoogleGenAI } from '@google/genai';
import type { Content, GenerateContentConfig, GenerateContentResponse } from '@google/genai';
import {
  CITY_PROMPT,
  CITY_SCHEMA,
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

/** Sends the contents and returns the model's own. */
type Turn = (contents: Content[]) => Promise<Content>;

async function trip(turn: Turn) {
  const contents: Content[] = [{ role: 'user', parts: [{ text: WEATHER_PROMPT }] }];
  const first = await turn(contents);
  const call = first.parts?.find((part) => part.functionCall)?.functionCall;
  if (!call?.name) throw new Error('no function was called');
  const functionResponse = {
    ...(call.id === undefined ? {} : { id: call.id }),
    name: call.name,
    response: { output: TOOL_RESULT },
  };
  const second = await turn([...contents, first, { role: 'user', parts: [{ functionResponse }] }]);
  const text = (second.parts ?? []).map((part) => part.text ?? '').join('');
  return { name: call.name, input: call.args, text };
}

/** All parts of a streamed answer, as one turn of the model. */
async function collect(stream: AsyncIterable<GenerateContentResponse>): Promise<Content> {
  const parts = [];
  for await (const { candidates } of stream) parts.push(...(candidates?.[0]?.content?.parts ?? []));
  return { role: 'model', parts };
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
    const seen = { text: '', pieces: 0, finish: '' };
    for await (const chunk of stream) {
      seen.text += chunk.text ?? '';
      seen.pieces += chunk.text ? 1 : 0;
      seen.finish = chunk.candidates?.[0]?.finishReason ?? seen.finish;
    }
    return seen;
  },
  toolTrip: (target) =>
    trip(async (contents) => {
      const { models } = connect(target);
      const answer = await models.generateContent({ model: target.model, contents, config: TOOL_CONFIG });
      return answer.candidates?.[0]?.content ?? {};
    }),
  streamedToolTrip: (target) =>
    trip(async (contents) => {
      const { models } = connect(target);
      const { model } = target;
      return collect(await models.generateContentStream({ model, contents, config: TOOL_CONFIG }));
    }),
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
