/**
 * The members of requests of the relayed families: which pass, and which name a stored object or a price. The
 * fields of forms are members, too. A new member is one line here, with the page that documents it.
 */
import { DIALECTS } from '../dialects/index.ts';
import { compileMembers } from '../dialects/member-table.ts';
import type { MemberLine, MemberTable } from '../dialects/member-table.ts';

const OPENAI = 'https://platform.openai.com/docs/api-reference';
const EMBEDDINGS = `${OPENAI}/embeddings/create`;
const MODERATIONS = `${OPENAI}/moderations/create`;
const IMAGES = `${OPENAI}/images/create`;
const EDITS = `${OPENAI}/images/createEdit`;
const SPEECH = `${OPENAI}/audio/createSpeech`;
const TRANSCRIPTIONS = `${OPENAI}/audio/createTranscription`;
const TRANSLATIONS = `${OPENAI}/audio/createTranslation`;
const COHERE = 'https://docs.cohere.com/reference/rerank';
const JINA = 'https://jina.ai/embeddings';
const VOYAGE = 'https://docs.voyageai.com/docs';
const MISTRAL = 'https://docs.mistral.ai/api/endpoint';
const NVIDIA = 'https://docs.api.nvidia.com/nim/reference/nvidia-nv-embedqa-e5-v5-infer';
const OPENROUTER = 'https://openrouter.ai/docs/guides/routing/provider-selection';
const VLLM = 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html';
const TOGETHER = 'https://docs.together.ai/reference';
const GROQ = 'https://console.groq.com/docs/api-reference';
const XAI = 'https://docs.x.ai/docs/guides/image-generations';
const ZAI = 'https://docs.z.ai/api-reference';
const GOOGLE = 'https://ai.google.dev/api/embeddings';
const VERTEX = 'https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api';
const CODEX = 'https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/search.rs';

/** Embeddings in OpenAI's format. */
const EMBEDDING_MEMBERS: MemberTable = compileMembers([
  ['request', 'ours', 'model', EMBEDDINGS],
  ['request', 'pass', 'input encoding_format dimensions user', EMBEDDINGS],
  ['request', 'pass', 'input_type truncation output_dimension output_dtype', `${VOYAGE}/embeddings`],
  ['request', 'pass', 'task late_chunking truncate embedding_type normalized', JINA],
  ['request', 'pass', 'metadata*', `${MISTRAL}/embeddings`],
  ['request', 'pass', 'modality', NVIDIA],
  ['request', 'pass', 'truncate_prompt_tokens add_special_tokens embed_dtype endianness', VLLM],
  ['request', 'priced', 'provider service_tier', OPENROUTER],
]);

/** Embeddings in Google's format. */
const GOOGLE_EMBEDDING_MEMBERS: MemberTable = compileMembers(
  [
    ['request', 'ours', 'model', GOOGLE],
    ['request', 'pass', 'content>content taskType title outputDimensionality requests>request', GOOGLE],
    ['request', 'pass', 'autoTruncate', VERTEX],
    ['content', 'pass', 'role parts>part', GOOGLE],
    ['part', 'pass', 'text inlineData>blob', GOOGLE],
    ['part', 'stored', 'fileData', GOOGLE],
    ['blob', 'pass', 'mimeType data', GOOGLE],
  ],
  { snakeCase: true },
);

/** Cohere's format. The documents of some providers are objects with any fields. */
const RERANK_MEMBERS: MemberTable = compileMembers([
  ['request', 'ours', 'model', COHERE],
  ['request', 'pass', 'query documents* top_n return_documents rank_fields', COHERE],
  ['request', 'pass', 'max_tokens_per_doc max_chunks_per_doc priority', COHERE],
  ['request', 'pass', 'top_k truncation', `${VOYAGE}/reranker`],
  ['request', 'pass', 'truncate_prompt_tokens', VLLM],
]);

/** Moderations of texts and pictures. */
const MODERATION_MEMBERS: MemberTable = compileMembers([
  ['request', 'ours', 'model', MODERATIONS],
  ['request', 'pass', 'input>part', MODERATIONS],
  ['request', 'pass', 'metadata*', `${MISTRAL}/classifiers`],
  ['part', 'pass', 'type text image_url>image', MODERATIONS],
  ['image', 'pass', 'url detail', MODERATIONS],
]);

/** Members that generation and editing of pictures share. `auto` chooses among the listed values. */
const PICTURE: readonly MemberLine[] = [
  ['request', 'ours', 'model', IMAGES],
  ['request', 'pass', 'prompt n response_format output_format output_compression', IMAGES],
  ['request', 'pass', 'background moderation stream partial_images style user', IMAGES],
  ['request', 'priced', 'quality=auto|standard|low|medium|high', IMAGES],
  ['request', 'priced', 'size=auto', IMAGES],
  ['request', 'pass', 'aspect_ratio', XAI],
  ['request', 'priced', 'resolution', XAI],
  [
    'request',
    'pass',
    'seed negative_prompt guidance_scale disable_safety_checker',
    `${TOGETHER}/post-images`,
  ],
  ['request', 'priced', 'width height steps image_loras', `${TOGETHER}/post-images`],
  ['request', 'pass', 'user_id watermark_enabled', `${ZAI}/image/generate-image`],
];

/** Generation of pictures. */
const IMAGE_MEMBERS: MemberTable = compileMembers([
  ...PICTURE,
  ['request', 'pass', 'image_url', `${TOGETHER}/post-images`],
]);

/** Editing of pictures, as a form or as JSON. */
const IMAGE_EDIT_MEMBERS: MemberTable = compileMembers([
  ...PICTURE,
  ['request', 'pass', 'image mask>image images>image', EDITS],
  ['request', 'priced', 'input_fidelity=low', EDITS],
  ['image', 'pass', 'image_url', EDITS],
  ['image', 'stored', 'file_id', EDITS],
]);

/** Speech. A voice with an id is stored in the operator's account, which all customers share. */
const SPEECH_MEMBERS: MemberTable = compileMembers([
  ['request', 'ours', 'model', SPEECH],
  ['request', 'pass', 'input voice>voice instructions response_format speed stream_format', SPEECH],
  ['request', 'pass', 'sample_rate', `${GROQ}#audio-speech`],
  ['request', 'pass', 'language', `${TOGETHER}/audio-speech`],
  ['request', 'pass', 'volume', `${ZAI}/audio/text-to-speech`],
  ['voice', 'stored', 'id', SPEECH],
  ['request', 'stored', 'voice_id', `${MISTRAL}/audio/speech`],
]);

/** Members that transcriptions and translations share. Forms carry lists as `name[]`. */
const RECORDING: readonly MemberLine[] = [
  ['request', 'ours', 'model', TRANSCRIPTIONS],
  ['request', 'pass', 'file prompt response_format temperature', TRANSLATIONS],
  ['request', 'address', 'url', `${GROQ}#audio-transcription`],
  ['request', 'address', 'file_url', `${MISTRAL}/audio/transcriptions`],
  ['request', 'stored', 'file_id', `${MISTRAL}/audio/transcriptions`],
  ['request', 'pass', 'language to_language seed top_p top_k min_p', VLLM],
  ['request', 'pass', 'frequency_penalty presence_penalty repetition_penalty', VLLM],
];

/** Translation of recordings. */
const TRANSLATION_MEMBERS: MemberTable = compileMembers(RECORDING);

/** Transcription of recordings. */
const TRANSCRIPTION_MEMBERS: MemberTable = compileMembers([
  ...RECORDING,
  ['request', 'pass', 'languages keywords include timestamp_granularities stream', TRANSCRIPTIONS],
  ['request', 'pass', 'chunking_strategy* known_speaker_names known_speaker_references', TRANSCRIPTIONS],
  ['request', 'pass', 'diarize context_bias', `${MISTRAL}/audio/transcriptions`],
]);

const RESPONSES: readonly MemberLine[] = DIALECTS['openai-responses'].inbound.mirror?.members.lines ?? [];

/** Web search. The conversation that agents send with it has the items of the responses format. */
const SEARCH_MEMBERS: MemberTable = compileMembers([
  ['request', 'ours', 'model', CODEX],
  ['request', 'pass', 'id input>item commands>commands settings>settings max_output_tokens', CODEX],
  ['request', 'pass', 'reasoning>reasoning', CODEX],
  ['commands', 'pass', 'search_query>query image_query>query open>page click>page find>page', CODEX],
  ['commands', 'pass', 'screenshot>page finance>asset weather>forecast sports>match time>offset', CODEX],
  ['commands', 'pass', 'response_length', CODEX],
  ['query', 'pass', 'q recency domains', CODEX],
  ['page', 'pass', 'ref_id lineno id pattern pageno', CODEX],
  ['asset', 'pass', 'ticker type market', CODEX],
  ['forecast', 'pass', 'location start duration', CODEX],
  ['match', 'pass', 'tool fn league team opponent date_from date_to num_games locale', CODEX],
  ['offset', 'pass', 'utc_offset', CODEX],
  ['settings', 'pass', 'user_location>location search_context_size filters>filters', CODEX],
  ['settings', 'pass', 'image_settings>image_settings allowed_callers external_web_access', CODEX],
  ['image_settings', 'pass', 'max_results caption', CODEX],
  ...RESPONSES.filter(([object]) => object !== 'request'),
]);

/** The tables of all relayed requests. */
export const RELAY_MEMBERS = {
  embeddings: EMBEDDING_MEMBERS,
  googleEmbeddings: GOOGLE_EMBEDDING_MEMBERS,
  rerank: RERANK_MEMBERS,
  moderations: MODERATION_MEMBERS,
  images: IMAGE_MEMBERS,
  imageEdits: IMAGE_EDIT_MEMBERS,
  speech: SPEECH_MEMBERS,
  transcriptions: TRANSCRIPTION_MEMBERS,
  translations: TRANSLATION_MEMBERS,
  search: SEARCH_MEMBERS,
} as const;
