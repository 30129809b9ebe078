/** The conversations that every SDK runs, with the prompts by which the upstream selects its answers. */

/** Gateway, key and model of a conversation. */
export interface Target {
  /** The gateway's base address, without a version. */
  url: string;
  key: string;
  model: string;
}

export interface Streamed {
  text: string;
  /** Number of pieces in which the text came. */
  pieces: number;
  /** The finish reason, as the client's format names it. */
  finish: string;
}

export interface ToolCall {
  name: string;
  input: unknown;
}

export interface ToolTrip extends ToolCall {
  /** The model's text after the tool result. */
  text: string;
}

/** Thrown if an SDK reports an incomplete answer as a success. */
export class IncompleteAnswer extends Error {
  override name = 'IncompleteAnswer';
}

/** Parses tool call arguments that an SDK returns as JSON text. */
export function readInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new IncompleteAnswer('the arguments of the tool call are cut off', { cause });
  }
}

/** One official SDK with one of its formats. Every function rejects if the SDK reports an error. */
export interface SdkClient {
  name: string;
  whole(target: Target): Promise<string>;
  streamed(target: Target): Promise<Streamed>;
  /** Asks a question, runs the tool that the model calls, and sends the result. */
  toolTrip(target: Target): Promise<ToolTrip>;
  /** Asks the question and reads the tool call from a stream. */
  streamedCall(target: Target): Promise<ToolCall>;
  /** Like `toolTrip`, with both answers streamed. */
  streamedToolTrip(target: Target): Promise<ToolTrip>;
  /** Sends `PICTURE` and returns the model's text about it. */
  vision(target: Target): Promise<string>;
  /** Requests an object of `CITY_SCHEMA` and returns the parsed object. */
  structured(target: Target): Promise<unknown>;
}

export const TEXT = 'The quick brown fox jumps over the lazy dog, again and again, until the stream ends.';
export const WEATHER = 'It is sunny in Paris.';
export const SEEN = 'A single red dot.';
export const CITY = { city: 'Paris', degrees: 21 };

export const PLAIN_PROMPT = 'Say something about a fox.';
export const WEATHER_PROMPT = 'What is the weather in Paris?';
export const PICTURE_PROMPT = 'What is in this picture?';
export const CITY_PROMPT = 'Describe Paris as an object.';

/** The result that the client's tool returns. */
export const TOOL_RESULT = 'Sunny, 21 degrees';
export const TOOL_INPUT = { city: 'Paris' };
export const TOOL_NAME = 'get_weather';
export const TOOL_DESCRIPTION = 'The weather in a city.';
export const TOOL_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const, description: 'Its name.' } },
  required: ['city'],
  additionalProperties: false,
};

export const CITY_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const }, degrees: { type: 'number' as const } },
  required: ['city', 'degrees'],
  additionalProperties: false,
};

/** A PNG of one red pixel, in base64. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
