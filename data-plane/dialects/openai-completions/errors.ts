/** Encodes errors of legacy completions, which are those of all OpenAI formats. */
export {
  encodeOpenAiError as encodeError,
  encodeOpenAiStreamError as encodeStreamError,
} from '../openai-errors.ts';
