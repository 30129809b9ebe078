/** Each official SDK over one upstream of another format. The proof tier runs all pairs. */
import { anthropic } from './anthropic.ts';
import { google } from './google.ts';
import { describeMatrix } from './matrix.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import { FORMATS } from './upstream.ts';

const CLIENTS = [google, openaiChat, openaiResponses, anthropic];

describeMatrix(FORMATS.map((format, at) => [format, CLIENTS.slice(at, at + 1)]));
