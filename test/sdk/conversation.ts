/** What every SDK is asked to do, and the words that the upstream answers by. */

/** Where a conversation goes: the gateway, a customer's key, a model of the catalog. */
export interface Target {
  /** The gateway's base address, without a version. */
  url: string;
  key: string;
  model: string;
}

export interface Streamed {
  text: string;
  /** How many pieces the text came in. */
  pieces: number;
  /** The end as the client's format words it. */
  finish: string;
}

export interface Called {
  name: string;
  input: unknown;
}

export interface ToolTrip extends Called {
  /** What the model says once it has the tool's result. */
  text: string;
}

/** The SDK gave out an answer as whole that lacks what was to come. */
export class ShortSuccess extends Error {
  override name = 'ShortSuccess';
}

/** The arguments of a call, which an SDK hands out as JSON text. */
export function readInput(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ShortSuccess('the arguments of the call are cut off', { cause });
  }
}

/** One official SDK in one of its ways of speaking. Everything rejects where the SDK reports an error. */
export interface SdkClient {
  name: string;
  whole(target: Target): Promise<string>;
  streamed(target: Target): Promise<Streamed>;
  /** Asks, runs the tool that the model calls, and sends its result. */
  toolTrip(target: Target): Promise<ToolTrip>;
  /** The first half of it: the call, read from a stream. */
  streamedCall(target: Target): Promise<Called>;
  /** The whole of it, with both answers streamed. */
  streamedToolTrip(target: Target): Promise<ToolTrip>;
  /** Shows `PICTURE` and returns what the model says of it. */
  vision(target: Target): Promise<string>;
  /** Asks for an object of `CITY_SCHEMA` and returns it parsed. */
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

/** A tool's result as the client runs it. */
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
