/**
 * The providers that people name most, with what the form of an upstream needs for each. Words in capitals
 * in an address or a parameter are to be replaced. `source` is the page of the provider about the address.
 */
import type { ProtocolName } from '../catalog.ts';
import { DEFAULT_ACCESS } from './access.ts';
import type { Quirk } from '../quirks.ts';
import type { UpstreamAccess } from './access.ts';
import { PRESET_QUIRKS } from './preset-quirks.ts';

/** One provider. */
export interface UpstreamPreset {
  id: string;
  /** The provider's name for itself. */
  name: string;
  baseUrl: string;
  protocols: readonly ProtocolName[];
  /** Null for an API key in the header of the format. */
  access: UpstreamAccess | null;
  /** The provider's page that says so. */
  source: string;
  /** How the provider differs from its formats, and its page that says so; null if nothing is known. */
  quirks: readonly Quirk[];
  quirksSource: string | null;
}

/** A preset as it is written here: the quirks are in a list of their own. */
type Entry = Omit<UpstreamPreset, 'quirks' | 'quirksSource'>;

function accessOf(changes: Partial<UpstreamAccess>): UpstreamAccess {
  return { ...DEFAULT_ACCESS, ...changes };
}

function compatible(preset: Pick<Entry, 'id' | 'name' | 'baseUrl' | 'source'>): Entry {
  return { ...preset, protocols: ['openai-chat'], access: null };
}

const AZURE = 'https://YOUR-RESOURCE.openai.azure.com/openai';
const AZURE_SOURCE = 'https://learn.microsoft.com/en-us/azure/ai-foundry/openai/api-version-lifecycle';
const BEDROCK = 'https://bedrock-runtime.us-east-1.amazonaws.com';

const ENTRIES: readonly Entry[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    protocols: ['openai-chat', 'openai-responses'],
    access: null,
    source: 'https://platform.openai.com/docs/api-reference/introduction',
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    protocols: ['anthropic-messages'],
    access: null,
    source: 'https://platform.claude.com/docs/en/api/overview',
  },
  {
    id: 'google-ai-studio',
    name: 'Google AI Studio',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    protocols: ['google-generate'],
    access: null,
    source: 'https://ai.google.dev/api',
  },
  {
    id: 'azure-openai',
    name: 'Azure OpenAI',
    baseUrl: `${AZURE}/v1`,
    protocols: ['openai-chat', 'openai-responses'],
    access: accessOf({ auth: 'AZURE_API_KEY' }),
    source: AZURE_SOURCE,
  },
  {
    id: 'azure-openai-entra',
    name: 'Azure OpenAI, Entra ID',
    baseUrl: `${AZURE}/v1`,
    protocols: ['openai-chat', 'openai-responses'],
    access: accessOf({ auth: 'AZURE_ENTRA', tenantId: 'TENANT-ID', clientId: 'CLIENT-ID' }),
    source: 'https://learn.microsoft.com/en-us/azure/ai-foundry/openai/how-to/managed-identity',
  },
  {
    id: 'azure-openai-dated',
    name: 'Azure OpenAI, dated API version',
    baseUrl: AZURE,
    protocols: ['openai-chat'],
    access: accessOf({
      auth: 'AZURE_API_KEY',
      pathTemplate: '/deployments/{model}{path}',
      query: [{ name: 'api-version', value: '2024-10-21' }],
    }),
    source: 'https://learn.microsoft.com/en-us/azure/ai-foundry/openai/reference',
  },
  {
    id: 'bedrock-claude',
    name: 'Amazon Bedrock, Claude',
    baseUrl: BEDROCK,
    protocols: ['anthropic-messages'],
    access: accessOf({ auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' }),
    source:
      'https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html',
  },
  {
    id: 'bedrock-converse',
    name: 'Amazon Bedrock, other models by Converse',
    baseUrl: BEDROCK,
    protocols: ['bedrock-converse'],
    access: accessOf({ auth: 'AWS_KEYS', region: 'us-east-1', style: 'BEDROCK' }),
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference.html',
  },
  {
    id: 'bedrock-openai',
    name: 'Amazon Bedrock, chat completions',
    baseUrl: `${BEDROCK}/openai/v1`,
    protocols: ['openai-chat'],
    access: accessOf({ auth: 'AWS_KEYS', region: 'us-east-1' }),
    source: 'https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html',
  },
  {
    id: 'vertex-ai',
    name: 'Google Vertex AI, Gemini and Claude',
    baseUrl: 'https://aiplatform.googleapis.com/v1/projects/YOUR-PROJECT/locations/global',
    protocols: ['google-generate', 'anthropic-messages'],
    access: accessOf({ auth: 'GOOGLE_SERVICE_ACCOUNT', style: 'VERTEX' }),
    source: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/learn/locations',
  },
  {
    id: 'openrouter',
    name: 'OpenRouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    protocols: ['openai-chat', 'openai-responses'],
    access: null,
    source: 'https://openrouter.ai/docs/api-reference/overview',
  },
  {
    id: 'xai',
    name: 'xAI',
    baseUrl: 'https://api.x.ai/v1',
    protocols: ['openai-chat', 'openai-responses'],
    access: null,
    source: 'https://docs.x.ai/docs/api-reference',
  },
  compatible({
    id: 'deepseek',
    name: 'DeepSeek',
    baseUrl: 'https://api.deepseek.com/v1',
    source: 'https://api-docs.deepseek.com/',
  }),
  compatible({
    id: 'mistral',
    name: 'Mistral AI',
    baseUrl: 'https://api.mistral.ai/v1',
    source: 'https://docs.mistral.ai/api/',
  }),
  compatible({
    id: 'groq',
    name: 'Groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    source: 'https://console.groq.com/docs/openai',
  }),
  compatible({
    id: 'together',
    name: 'Together AI',
    baseUrl: 'https://api.together.xyz/v1',
    source: 'https://docs.together.ai/docs/openai-api-compatibility',
  }),
  compatible({
    id: 'fireworks',
    name: 'Fireworks AI',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    source: 'https://docs.fireworks.ai/tools-sdks/openai-compatibility',
  }),
  compatible({
    id: 'cerebras',
    name: 'Cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    source: 'https://inference-docs.cerebras.ai/resources/openai',
  }),
  compatible({
    id: 'moonshot',
    name: 'Moonshot AI',
    baseUrl: 'https://api.moonshot.ai/v1',
    source: 'https://platform.moonshot.ai/docs/api/chat',
  }),
  compatible({
    id: 'zai',
    name: 'Z.ai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    source: 'https://docs.z.ai/api-reference/introduction',
  }),
  compatible({
    id: 'alibaba',
    name: 'Alibaba Cloud Model Studio',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    source: 'https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope',
  }),
  compatible({
    id: 'siliconflow',
    name: 'SiliconFlow',
    baseUrl: 'https://api.siliconflow.cn/v1',
    source: 'https://docs.siliconflow.cn/en/api-reference/chat-completions/chat-completions',
  }),
  compatible({
    id: 'nvidia',
    name: 'NVIDIA NIM',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    source: 'https://docs.api.nvidia.com/nim/reference/llm-apis',
  }),
  compatible({
    id: 'cohere',
    name: 'Cohere',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    source: 'https://docs.cohere.com/docs/compatibility-api',
  }),
  compatible({
    id: 'minimax',
    name: 'MiniMax',
    baseUrl: 'https://api.minimax.io/v1',
    source: 'https://platform.minimax.io/docs/api-reference/text-openai-api',
  }),
];

/** The presets in the order of the form. */
export const UPSTREAM_PRESETS: readonly UpstreamPreset[] = ENTRIES.map((entry) => ({
  ...entry,
  ...(PRESET_QUIRKS[entry.id] ?? { quirks: [], quirksSource: null }),
}));
