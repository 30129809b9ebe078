/**
 * The members of a chat completions request, of OpenAI and of compatible providers, and the headers that
 * belong to it. A new member is one line here, with the page that documents it.
 */
import type { MirrorTables } from '../dialect.ts';
import { compileHeaders } from '../header-table.ts';
import { OPENAI_HEADERS } from '../openai-headers.ts';
import { compileMembers } from '../member-table.ts';
import type { MemberLine } from '../member-table.ts';

const API = 'https://platform.openai.com/docs/api-reference/chat/create';
const OPENROUTER = 'https://openrouter.ai/docs/api/reference/parameters';
const ROUTING = 'https://openrouter.ai/docs/guides/routing/provider-selection';
const GROQ = 'https://console.groq.com/docs/api-reference#chat-create';
const MISTRAL = 'https://docs.mistral.ai/api/endpoint/chat';
const DEEPSEEK = 'https://api-docs.deepseek.com/api/create-chat-completion';
const PERPLEXITY = 'https://docs.perplexity.ai/api-reference/chat-completions-post';
const XAI = 'https://docs.x.ai/docs/api-reference#chat-completions';
const ZAI = 'https://docs.z.ai/api-reference/llm/chat-completion';
const VLLM = 'https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html#chat-api';
const TOGETHER = 'https://docs.together.ai/reference/chat-completions-1';
const QWEN = 'https://www.alibabacloud.com/help/en/model-studio/use-qwen-by-calling-api';
const CEREBRAS = 'https://inference-docs.cerebras.ai/api-reference/chat-completions';
const AZURE = 'https://learn.microsoft.com/azure/ai-foundry/openai/reference';
const CACHING = 'https://platform.openai.com/docs/guides/prompt-caching';
const CLAUDE = 'https://docs.litellm.ai/docs/providers/anthropic';

const MEMBERS: readonly MemberLine[] = [
  ['request', 'ours', 'model store stream_options*', API],
  ['request', 'pass', 'messages>message stream n stop seed temperature top_p', API],
  ['request', 'pass', 'max_tokens max_completion_tokens presence_penalty frequency_penalty', API],
  ['request', 'pass', 'logprobs top_logprobs logit_bias* metadata* user safety_identifier', API],
  ['request', 'pass', 'tools>tool tool_choice>tool_choice parallel_tool_calls', API],
  ['request', 'pass', 'functions>function function_call>name', API],
  ['request', 'pass', 'response_format>format reasoning_effort verbosity modalities', API],
  ['request', 'pass', 'audio>audio prediction>prediction moderation>moderation', API],
  ['request', 'pass', 'web_search_options>web_search', API],
  ['request', 'pass', 'prompt_cache_key prompt_cache_retention prompt_cache_options>cache_options', CACHING],
  ['request', 'priced', 'service_tier', API],
  ['request', 'pass', 'cache_control>cache', CLAUDE],
  ['request', 'pass', 'reasoning>reasoning usage>usage', OPENROUTER],
  ['request', 'pass', 'top_k top_a min_p repetition_penalty transforms', OPENROUTER],
  ['request', 'pass', 'session_id trace* image_config*', OPENROUTER],
  ['request', 'priced', 'provider models route', ROUTING],
  ['request', 'priced', 'plugins', 'https://openrouter.ai/docs/guides/features/plugins'],
  ['request', 'stored', 'preset', 'https://openrouter.ai/docs/guides/features/presets'],
  ['request', 'pass', 'thinking>thinking tool_stream do_sample request_id', ZAI],
  ['request', 'pass', 'thinking_mode', DEEPSEEK],
  ['request', 'pass', 'include_reasoning reasoning_format citation_options disable_tool_validation', GROQ],
  ['request', 'pass', 'documents* include_domains exclude_domains search_settings*', GROQ],
  ['request', 'priced', 'compound_custom', GROQ],
  [
    'request',
    'pass',
    'safe_prompt prompt_mode random_seed document_image_limit document_page_limit',
    MISTRAL,
  ],
  ['request', 'pass', 'return_images return_related_questions disable_search search_mode', PERPLEXITY],
  ['request', 'pass', 'search_domain_filter search_recency_filter search_language_filter', PERPLEXITY],
  ['request', 'pass', 'search_after_date_filter search_before_date_filter', PERPLEXITY],
  ['request', 'priced', 'search_parameters', XAI],
  ['request', 'stored', 'deferred', XAI],
  ['request', 'pass', 'enable_thinking thinking_budget enable_search search_options*', QWEN],
  [
    'request',
    'pass',
    'chat_template_kwargs* chat_template add_generation_prompt continue_final_message',
    VLLM,
  ],
  ['request', 'pass', 'guided_json* guided_regex guided_choice guided_grammar', VLLM],
  ['request', 'pass', 'structured_outputs* min_tokens stop_token_ids ignore_eos skip_special_tokens', VLLM],
  ['request', 'pass', 'length_penalty best_of use_beam_search truncate_prompt_tokens echo', VLLM],
  ['request', 'pass', 'safety_model context_length_exceeded_behavior chat_template_kwargs*', TOGETHER],
  ['request', 'pass', 'clear_thinking disable_reasoning', CEREBRAS],
  ['request', 'stored', 'data_sources', AZURE],
  [
    'request',
    'stored',
    'previous_response_id conversation',
    'https://platform.openai.com/docs/guides/conversation-state',
  ],

  ['message', 'pass', 'role content>part name refusal tool_calls>tool_call tool_call_id', API],
  ['message', 'pass', 'function_call>called annotations* phase', API],
  ['message', 'stored', 'audio', API],
  ['message', 'pass', 'reasoning reasoning_content reasoning_details* images>part', OPENROUTER],
  ['message', 'pass', 'thinking_blocks* cache_control>cache', CLAUDE],
  ['message', 'pass', 'prefix', MISTRAL],
  ['part', 'pass', 'type text refusal image_url>image input_audio>input_audio file>file', API],
  ['part', 'pass', 'prompt_cache_breakpoint>breakpoint', CACHING],
  ['part', 'pass', 'cache_control>cache', CLAUDE],
  ['part', 'pass', 'video_url>image document_url>image index', OPENROUTER],
  ['part', 'pass', 'thinking>part document_name document_image_limit reference_ids', MISTRAL],
  ['image', 'pass', 'url detail', API],
  ['input_audio', 'pass', 'data format', API],
  ['file', 'pass', 'filename file_data', API],
  ['file', 'stored', 'file_id', API],
  ['breakpoint', 'pass', 'mode', CACHING],
  ['cache', 'pass', 'type ttl', CLAUDE],
  ['cache_options', 'pass', 'mode ttl', CACHING],
  ['cache_options', 'stored', 'comparison_response_id', CACHING],
  ['tool_call', 'pass', 'id type index function>called custom>called_custom extra_content*', API],
  ['called', 'pass', 'name arguments* thought_signature', API],
  ['called_custom', 'pass', 'name input', API],

  ['tool', 'pass', 'type type=function type=custom function>function custom>custom', API],
  // Some clients and compatible providers keep the members of a function beside its type.
  ['tool', 'pass', 'name description parameters* strict', VLLM],
  ['tool', 'pass', 'cache_control>cache eager_input_streaming', CLAUDE],
  ['tool', 'pass', 'type=web_search type=browser_search type=code_interpreter', GROQ],
  ['tool', 'pass', 'type=openrouter:web_search type=openrouter:datetime', OPENROUTER],
  ['tool', 'pass', 'type=web_search_preview parameters* web_search*', ZAI],
  ['tool', 'pass', 'type=builtin_function', 'https://platform.moonshot.ai/docs/guide/use-web-search'],
  ['tool', 'stored', 'vector_store_ids', API],
  ['tool', 'priced', 'type=mcp', GROQ],
  ['function', 'pass', 'name description parameters* strict cache_control>cache', API],
  ['custom', 'pass', 'name description format*', API],
  ['tool_choice', 'pass', 'type name function>name custom>name allowed_tools>allowed mode', API],
  ['allowed', 'pass', 'mode tools>allowed_tool', API],
  ['allowed_tool', 'pass', 'type name function>name custom>name', API],
  ['name', 'pass', 'name', API],
  ['format', 'pass', 'type json_schema>schema schema* value', API],
  ['schema', 'pass', 'name description schema* strict', API],
  ['audio', 'pass', 'format voice>voice', API],
  ['voice', 'stored', 'id', API],
  ['prediction', 'pass', 'type content>part', API],
  ['moderation', 'pass', 'model policy>policy', API],
  ['policy', 'pass', 'input>moderation_mode output>moderation_mode', API],
  ['moderation_mode', 'pass', 'mode', API],
  ['web_search', 'pass', 'search_context_size user_location>location', API],
  ['web_search', 'pass', 'image_results_enhanced_relevance', PERPLEXITY],
  ['web_search', 'priced', 'search_type', PERPLEXITY],
  ['location', 'pass', 'type approximate>approximate', API],
  ['location', 'pass', 'city country region timezone latitude longitude', PERPLEXITY],
  ['approximate', 'pass', 'city country region timezone', API],
  ['reasoning', 'pass', 'effort max_tokens exclude enabled summary', OPENROUTER],
  ['usage', 'pass', 'include', OPENROUTER],
  ['thinking', 'pass', 'type budget_tokens clear_thinking', ZAI],
];

/** Members and headers that pass on a mirror. */
export const MIRROR: MirrorTables = {
  members: compileMembers(MEMBERS),
  headers: compileHeaders('openai-', OPENAI_HEADERS),
};
