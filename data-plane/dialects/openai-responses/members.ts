/**
 * The members of a responses request, and the headers that belong to it. A new member is one line here, with
 * the page that documents it.
 */
import type { MirrorTables } from '../dialect.ts';
import { compileHeaders } from '../header-table.ts';
import { OPENAI_HEADERS } from '../openai-headers.ts';
import { compileMembers } from '../member-table.ts';
import type { MemberLine } from '../member-table.ts';

const DOCS = 'https://platform.openai.com/docs';
const API = `${DOCS}/api-reference/responses/create`;
const STATE = `${DOCS}/guides/conversation-state`;
const CACHING = `${DOCS}/guides/prompt-caching`;
const COMPACTION = `${DOCS}/guides/compaction`;
const INTERPRETER = `${DOCS}/guides/tools-code-interpreter`;
const SHELL = `${DOCS}/guides/tools-shell`;
const MCP = `${DOCS}/guides/tools-connectors-mcp`;
const IMAGES = `${DOCS}/guides/tools-image-generation`;
const SEARCH = `${DOCS}/guides/tools-web-search`;
const FILES = `${DOCS}/guides/tools-file-search`;
const COMPUTER = `${DOCS}/guides/tools-computer-use`;
const CODEX = 'https://github.com/openai/codex/tree/main/codex-rs/codex-api/src';
const ROUTING = 'https://openrouter.ai/docs/guides/routing/provider-selection';

const MEMBERS: readonly MemberLine[] = [
  ['request', 'ours', 'model store', API],
  ['request', 'pass', 'input>item instructions stream stream_options>stream_options', API],
  ['request', 'pass', 'max_output_tokens max_tool_calls temperature top_p top_logprobs', API],
  ['request', 'pass', 'tools>tool tool_choice>tool_choice parallel_tool_calls include', API],
  ['request', 'pass', 'reasoning>reasoning text>text truncation metadata*', API],
  ['request', 'pass', 'user safety_identifier moderation>moderation background', API],
  ['request', 'pass', 'prompt_cache_key prompt_cache_retention prompt_cache_options>cache_options', CACHING],
  ['request', 'pass', 'context_management>context', COMPACTION],
  ['request', 'pass', 'client_metadata*', CODEX],
  ['request', 'priced', 'service_tier', API],
  ['request', 'priced', 'provider models', ROUTING],
  ['request', 'stored', 'previous_response_id conversation prompt', STATE],
  ['request', 'stored', 'background_options', `${DOCS}/guides/background`],
  ['stream_options', 'pass', 'include_obfuscation include_usage', API],
  ['reasoning', 'pass', 'effort summary generate_summary context', API],
  ['reasoning', 'priced', 'mode', `${DOCS}/guides/reasoning`],
  ['text', 'pass', 'format>format verbosity', API],
  ['format', 'pass', 'type name description schema* strict', API],
  ['moderation', 'pass', 'model policy>policy', API],
  ['policy', 'pass', 'input>moderation_mode output>moderation_mode', API],
  ['moderation_mode', 'pass', 'mode', API],
  ['cache_options', 'pass', 'mode ttl', CACHING],
  ['cache_options', 'stored', 'comparison_response_id', CACHING],
  ['context', 'pass', 'type compact_threshold', COMPACTION],

  ['item', 'pass', 'type id status role content>part phase', API],
  ['item', 'pass', 'call_id name namespace arguments* input output>part caller>caller', API],
  ['item', 'pass', 'summary>part encrypted_content', `${DOCS}/guides/reasoning`],
  ['item', 'pass', 'action>action actions>action queries results>result', API],
  ['item', 'pass', 'pending_safety_checks>check acknowledged_safety_checks>check', COMPUTER],
  ['item', 'pass', 'execution tools>tool', `${DOCS}/guides/tools-tool-search`],
  ['item', 'pass', 'result revised_prompt background output_format quality size', IMAGES],
  ['item', 'pass', 'code outputs>output', INTERPRETER],
  ['item', 'stored', 'container_id', INTERPRETER],
  ['item', 'pass', 'environment>environment max_output_length', SHELL],
  ['item', 'pass', 'operation>operation', `${DOCS}/guides/tools-apply-patch`],
  ['item', 'pass', 'server_label error* approval_request_id approve reason', MCP],
  ['item', 'pass', 'fingerprint', API],
  ['item', 'pass', 'internal_chat_message_metadata_passthrough*', CODEX],
  ['caller', 'pass', 'type caller_id', API],
  ['part', 'pass', 'type text refusal annotations>annotation logprobs>logprob', API],
  ['part', 'pass', 'image_url detail filename file_data file_url', API],
  ['part', 'stored', 'file_id', API],
  ['part', 'pass', 'input_audio>input_audio', API],
  ['part', 'pass', 'prompt_cache_breakpoint>breakpoint', CACHING],
  ['part', 'pass', 'stdout stderr outcome>outcome', SHELL],
  ['input_audio', 'pass', 'data format', API],
  ['breakpoint', 'pass', 'mode', CACHING],
  ['outcome', 'pass', 'type exit_code', SHELL],
  // Labels of earlier answers. Nothing reads the files that they name.
  ['annotation', 'pass', 'type index filename url title start_index end_index file_id container_id', API],
  ['logprob', 'pass', 'token logprob bytes top_logprobs>logprob', API],
  ['result', 'pass', 'text filename score attributes* file_id', FILES],
  ['action', 'pass', 'type query queries sources>source url pattern', SEARCH],
  ['action', 'pass', 'button x y keys path>point scroll_x scroll_y text', COMPUTER],
  ['action', 'pass', 'command commands timeout_ms working_directory env* user max_output_length', SHELL],
  ['source', 'pass', 'type url', SEARCH],
  ['point', 'pass', 'x y', COMPUTER],
  ['check', 'pass', 'id code message', COMPUTER],
  ['output', 'pass', 'type logs url', INTERPRETER],
  ['operation', 'pass', 'type path diff', `${DOCS}/guides/tools-apply-patch`],

  ['tool', 'pass', 'type name description parameters* output_schema* strict', API],
  ['tool', 'pass', 'type=function type=custom type=namespace type=tool_search', API],
  ['tool', 'pass', 'type=web_search type=web_search_2025_08_26 type=web_search_preview', SEARCH],
  ['tool', 'pass', 'type=web_search_preview_2025_03_11', SEARCH],
  ['tool', 'pass', 'type=code_interpreter', INTERPRETER],
  ['tool', 'pass', 'type=computer type=computer_use type=computer_use_preview', COMPUTER],
  ['tool', 'pass', 'type=local_shell type=shell', SHELL],
  ['tool', 'pass', 'type=apply_patch', `${DOCS}/guides/tools-apply-patch`],
  ['tool', 'pass', 'type=programmatic_tool_calling', API],
  ['tool', 'pass', 'type=file_search', FILES],
  ['tool', 'priced', 'type=image_generation', IMAGES],
  ['tool', 'priced', 'type=mcp', MCP],
  ['tool', 'pass', 'defer_loading allowed_callers format>grammar tools>tool execution', API],
  ['tool', 'pass', 'search_context_size search_content_types user_location>location', SEARCH],
  ['tool', 'pass', 'external_web_access filters>filters return_token_budget', SEARCH],
  ['tool', 'pass', 'max_num_results ranking_options>ranking', FILES],
  ['tool', 'stored', 'vector_store_ids', FILES],
  ['tool', 'pass', 'display_width display_height environment>environment', COMPUTER],
  ['tool', 'pass', 'container>container', INTERPRETER],
  ['tool', 'pass', 'model quality size output_format output_compression moderation', IMAGES],
  ['tool', 'pass', 'background input_fidelity input_image_mask>mask partial_images action', IMAGES],
  ['tool', 'pass', 'server_label server_url connector_id authorization server_description', MCP],
  ['tool', 'pass', 'headers* allowed_tools>tool_filter require_approval>approval', MCP],
  ['tool', 'pass', 'input_schema* annotations*', MCP],
  ['tool', 'stored', 'tunnel_id', MCP],
  ['grammar', 'pass', 'type syntax definition', API],
  ['location', 'pass', 'type city country region timezone', SEARCH],
  ['filters', 'pass', 'allowed_domains blocked_domains', SEARCH],
  ['filters', 'pass', 'type key value* filters>filters', FILES],
  ['ranking', 'pass', 'ranker score_threshold hybrid_search>hybrid', FILES],
  ['hybrid', 'pass', 'embedding_weight text_weight', FILES],
  ['tool_filter', 'pass', 'tool_names read_only', MCP],
  ['approval', 'pass', 'always>tool_filter never>tool_filter', MCP],
  ['mask', 'pass', 'image_url', IMAGES],
  ['mask', 'stored', 'file_id', IMAGES],
  ['container', 'pass', 'type network_policy>network', INTERPRETER],
  ['container', 'stored', 'file_ids', INTERPRETER],
  ['container', 'priced', 'memory_limit', INTERPRETER],
  ['environment', 'pass', 'type type=local network_policy>network skills>skill', SHELL],
  ['environment', 'priced', 'type=container_auto memory_limit', SHELL],
  ['environment', 'stored', 'type=container_reference container_id file_ids', SHELL],
  ['network', 'pass', 'type allowed_domains domain_secrets>secret', INTERPRETER],
  ['secret', 'pass', 'domain name value', INTERPRETER],
  ['skill', 'pass', 'type name description path version source>skill_source', SHELL],
  ['skill', 'stored', 'skill_id', SHELL],
  ['skill_source', 'pass', 'type media_type data', SHELL],
  ['tool_choice', 'pass', 'type name mode namespace server_label tools>allowed_tool', API],
  ['allowed_tool', 'pass', 'type name namespace server_label', API],
];

/**
 * The members of a request that creates or extends a conversation.
 * https://platform.openai.com/docs/api-reference/conversations
 */
const CONVERSATION: readonly MemberLine[] = [
  ['request', 'pass', 'items>item metadata*', `${DOCS}/api-reference/conversations`],
  ...MEMBERS.filter(([object]) => object !== 'request'),
];

/** The table of conversations. */
export const CONVERSATION_MEMBERS = compileMembers(CONVERSATION);

/** Members and headers that pass on a mirror. */
export const MIRROR: MirrorTables = {
  members: compileMembers(MEMBERS),
  headers: compileHeaders('openai-', OPENAI_HEADERS),
};
