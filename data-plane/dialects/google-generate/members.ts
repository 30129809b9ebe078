/**
 * The members of a generateContent request, and the headers that belong to it. A new member is one line here,
 * with the page that documents it. Each name is also known in snake case.
 */
import type { MirrorTables } from '../dialect.ts';
import { compileHeaders } from '../header-table.ts';
import type { HeaderLine } from '../header-table.ts';
import { compileMembers } from '../member-table.ts';
import type { MemberLine } from '../member-table.ts';

const DOCS = 'https://ai.google.dev';
const API = `${DOCS}/api/generate-content`;
const CONTENT = `${DOCS}/api/caching#Content`;
const TOOL = `${DOCS}/api/caching#Tool`;
const VERTEX = 'https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1beta1';
const SPEECH = `${DOCS}/gemini-api/docs/speech-generation`;
const COUNT = `${DOCS}/api/tokens`;

const MEMBERS: readonly MemberLine[] = [
  ['request', 'ours', 'model', API],
  ['request', 'pass', 'contents>content systemInstruction>content tools>tool', API],
  ['request', 'pass', 'toolConfig>toolConfig safetySettings>safety generationConfig>config', API],
  ['request', 'pass', 'labels*', `${VERTEX}/projects.locations.publishers.models/generateContent`],
  ['request', 'pass', 'generateContentRequest>request', COUNT],
  ['request', 'stored', 'cachedContent', `${DOCS}/api/caching`],
  ['request', 'priced', 'serviceTier', `${DOCS}/gemini-api/docs/priority-inference`],
  ['request', 'pass', 'modelArmorConfig>modelArmor', `${VERTEX}/ModelArmorConfig`],
  ['modelArmor', 'stored', 'promptTemplateName responseTemplateName', `${VERTEX}/ModelArmorConfig`],
  ['safety', 'pass', 'category threshold method', API],

  ['content', 'pass', 'role parts>part', CONTENT],
  ['part', 'pass', 'text thought thoughtSignature', CONTENT],
  ['part', 'pass', 'inlineData>blob fileData>file functionCall>call functionResponse>result', CONTENT],
  ['part', 'pass', 'executableCode>code codeExecutionResult>codeResult', CONTENT],
  ['part', 'pass', 'toolCall* toolResponse* partMetadata*', CONTENT],
  ['part', 'pass', 'videoMetadata>video mediaResolution>resolution mediaProcessing', CONTENT],
  ['part', 'pass', 'audioTranscription>transcription', `${VERTEX}/Content`],
  ['transcription', 'pass', 'speakerLabel text words>word', `${VERTEX}/Content`],
  ['word', 'pass', 'startOffset endOffset word', `${VERTEX}/Content`],
  ['blob', 'pass', 'mimeType data displayName', CONTENT],
  ['file', 'pass', 'mimeType displayName', CONTENT],
  ['file', 'address', 'fileUri', `${DOCS}/api/files`],
  ['call', 'pass', 'id name args* partialArgs>partialArg willContinue', CONTENT],
  ['partialArg', 'pass', 'jsonPath boolValue nullValue numberValue stringValue willContinue', CONTENT],
  ['result', 'pass', 'id name response* parts>part scheduling willContinue', CONTENT],
  ['code', 'pass', 'id language code', CONTENT],
  ['codeResult', 'pass', 'id outcome output', CONTENT],
  ['video', 'pass', 'startOffset endOffset fps', CONTENT],
  ['resolution', 'pass', 'level numTokens', CONTENT],

  ['tool', 'pass', 'functionDeclarations>function', TOOL],
  ['tool', 'pass', 'googleSearch>search googleSearchRetrieval>searchRetrieval', TOOL],
  ['tool', 'pass', 'codeExecution>none urlContext>none computerUse>computer', TOOL],
  ['tool', 'priced', 'googleMaps', `${DOCS}/gemini-api/docs/maps-grounding`],
  ['tool', 'priced', 'mcpServers', TOOL],
  ['tool', 'priced', 'enterpriseWebSearch exaAiSearch parallelAiSearch', `${VERTEX}/Tool`],
  ['tool', 'stored', 'fileSearch', `${DOCS}/gemini-api/docs/file-search`],
  ['tool', 'stored', 'retrieval', `${VERTEX}/Tool`],
  ['function', 'pass', 'name description behavior', TOOL],
  ['function', 'pass', 'parameters* parametersJsonSchema* response* responseJsonSchema*', TOOL],
  ['search', 'pass', 'timeRangeFilter>timeRange searchTypes>searchTypes', TOOL],
  ['search', 'pass', 'excludeDomains blockingConfidence', `${VERTEX}/Tool`],
  ['searchTypes', 'pass', 'webSearch>none imageSearch>none', TOOL],
  ['timeRange', 'pass', 'startTime endTime', TOOL],
  ['searchRetrieval', 'pass', 'dynamicRetrievalConfig>dynamicRetrieval', TOOL],
  ['dynamicRetrieval', 'pass', 'mode dynamicThreshold', TOOL],
  ['computer', 'pass', 'environment excludedPredefinedFunctions', TOOL],
  ['computer', 'pass', 'enablePromptInjectionDetection', `${VERTEX}/Tool`],

  ['toolConfig', 'pass', 'functionCallingConfig>calling retrievalConfig>place', TOOL],
  ['toolConfig', 'pass', 'includeServerSideToolInvocations', TOOL],
  ['calling', 'pass', 'mode allowedFunctionNames', TOOL],
  ['calling', 'pass', 'streamFunctionCallArguments', `${VERTEX}/ToolConfig`],
  ['place', 'pass', 'languageCode latLng>latLng', TOOL],
  ['latLng', 'pass', 'latitude longitude', TOOL],

  ['config', 'pass', 'candidateCount stopSequences maxOutputTokens temperature topP topK seed', API],
  ['config', 'pass', 'presencePenalty frequencyPenalty responseLogprobs logprobs', API],
  ['config', 'pass', 'responseMimeType responseSchema* responseJsonSchema*', API],
  ['config', 'pass', 'responseModalities mediaResolution enableEnhancedCivicAnswers', API],
  ['config', 'pass', 'thinkingConfig>thinking speechConfig>speech imageConfig>image', API],
  ['config', 'pass', 'responseFormat>responseFormat', API],
  ['config', 'pass', 'audioTimestamp enableAffectiveDialog', `${VERTEX}/GenerationConfig`],
  ['config', 'pass', 'audioTranscriptionConfig* translationConfig>translation', `${VERTEX}/GenerationConfig`],
  ['config', 'priced', 'routingConfig modelConfig', `${VERTEX}/GenerationConfig`],
  ['thinking', 'pass', 'includeThoughts thinkingBudget thinkingLevel', API],
  ['translation', 'pass', 'echoTargetLanguage targetLanguageCode', `${VERTEX}/GenerationConfig`],
  ['image', 'pass', 'aspectRatio', `${DOCS}/gemini-api/docs/image-generation`],
  ['image', 'priced', 'imageSize', `${DOCS}/gemini-api/docs/pricing`],
  [
    'image',
    'pass',
    'personGeneration prominentPeople imageOutputOptions>imageOutput',
    `${VERTEX}/GenerationConfig`,
  ],
  ['imageOutput', 'pass', 'mimeType compressionQuality', `${VERTEX}/GenerationConfig`],
  ['speech', 'pass', 'languageCode voiceConfig>voice multiSpeakerVoiceConfig>speakers', SPEECH],
  ['voice', 'pass', 'prebuiltVoiceConfig>prebuiltVoice', SPEECH],
  ['voice', 'pass', 'replicatedVoiceConfig>replicatedVoice', `${VERTEX}/GenerationConfig`],
  ['prebuiltVoice', 'pass', 'voiceName', SPEECH],
  ['replicatedVoice', 'pass', 'mimeType voiceSampleAudio', `${VERTEX}/GenerationConfig`],
  ['speakers', 'pass', 'speakerVoiceConfigs>speaker', SPEECH],
  ['speaker', 'pass', 'speaker voiceConfig>voice', SPEECH],
  ['responseFormat', 'pass', 'audio>audioFormat image>imageFormat text>textFormat video>videoFormat', API],
  ['audioFormat', 'pass', 'mimeType bitRate sampleRate delivery', API],
  ['imageFormat', 'pass', 'mimeType aspectRatio delivery', API],
  ['imageFormat', 'priced', 'imageSize', `${DOCS}/gemini-api/docs/pricing`],
  ['textFormat', 'pass', 'mimeType schema*', API],
  ['videoFormat', 'pass', 'aspectRatio duration resolution delivery', API],
  ['videoFormat', 'stored', 'gcsUri', API],
];

const HEADERS: readonly HeaderLine[] = [
  ['x-goog-api-key', 'ours', '', `${DOCS}/gemini-api/docs/api-key`],
  ['x-goog-api-client', 'ours', '', 'https://github.com/googleapis/js-genai'],
  ['x-goog-user-project', 'ours', '', 'https://cloud.google.com/apis/docs/system-parameters'],
  ['x-goog-request-params', 'ours', '', 'https://google.aip.dev/client-libraries/4222'],
];

/**
 * The members of a request that creates or changes a cached content.
 * https://ai.google.dev/api/caching#CachedContent
 */
const CACHED_CONTENT: readonly MemberLine[] = [
  ['request', 'ours', 'model name', `${DOCS}/api/caching`],
  ['request', 'pass', 'contents>content systemInstruction>content tools>tool', `${DOCS}/api/caching`],
  ['request', 'pass', 'toolConfig>toolConfig displayName ttl expireTime', `${DOCS}/api/caching`],
  ...MEMBERS.filter(([object]) => object !== 'request'),
];

/** The table of cached contents. */
export const CACHED_CONTENT_MEMBERS = compileMembers(CACHED_CONTENT, { snakeCase: true });

/** Members and headers that pass on a mirror. */
export const MIRROR: MirrorTables = {
  members: compileMembers(MEMBERS, { snakeCase: true }),
  headers: compileHeaders('x-goog-', HEADERS),
};
