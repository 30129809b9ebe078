/** Every client library over every upstream format, through both planes: the answers and the charges. */
import { AI_CLIENTS } from './ai.ts';
import { anthropic } from './anthropic.ts';
import { google } from './google.ts';
import { describeMatrix } from './matrix.ts';
import { openaiChat, openaiResponses } from './openai.ts';
import { FORMATS } from './upstream.ts';

const CLIENTS = [openaiChat, openaiResponses, anthropic, google, ...AI_CLIENTS];

describeMatrix(FORMATS.map((format) => [format, CLIENTS]));
