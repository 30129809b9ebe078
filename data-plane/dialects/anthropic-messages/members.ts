/**
 * The members of a messages request, and the headers that belong to it. A new member is one line here, with
 * the page that documents it.
 */
import type { MirrorTables } from '../dialect.ts';
import { compileHeaders } from '../header-table.ts';
import type { HeaderLine } from '../header-table.ts';
import { compileMembers } from '../member-table.ts';
import type { MemberLine } from '../member-table.ts';

const DOCS = 'https://platform.claude.com/docs/en';
const API = `${DOCS}/api/messages/create`;
const BETA_API = `${DOCS}/api/beta/messages/create`;
const OUTPUTS = `${DOCS}/build-with-claude/structured-outputs`;
const EDITING = `${DOCS}/build-with-claude/context-editing`;
const CITATIONS = `${DOCS}/build-with-claude/citations`;
const THINKING = `${DOCS}/build-with-claude/extended-thinking`;
const TOOLS = `${DOCS}/agents-and-tools/tool-use`;
const CLAUDE_CODE = 'https://code.claude.com/docs/en/llm-gateway';
const SDK = 'https://github.com/anthropics/anthropic-sdk-typescript/blob/main/src/resources/beta/beta.ts';
const MCP = `${DOCS}/agents-and-tools/mcp-connector`;

const MEMBERS: readonly MemberLine[] = [
  ['request', 'ours', 'model', API],
  ['request', 'pass', 'max_tokens temperature top_p top_k stop_sequences stream', API],
  ['request', 'pass', 'messages>message system>block tools>tool tool_choice>tool_choice', API],
  ['request', 'pass', 'thinking>thinking metadata>metadata cache_control>cache', API],
  ['request', 'pass', 'output_config>output_config', API],
  ['request', 'pass', 'output_format>format', OUTPUTS],
  ['request', 'pass', 'context_management>context', EDITING],
  ['request', 'priced', 'service_tier', `${DOCS}/api/service-tiers`],
  ['request', 'priced', 'speed', `${DOCS}/build-with-claude/fast-mode`],
  ['request', 'priced', 'inference_geo', `${DOCS}/build-with-claude/data-residency`],
  ['request', 'priced', 'fallbacks billing_policy', BETA_API],
  ['request', 'priced', 'mcp_servers', MCP],
  ['request', 'stored', 'container', `${DOCS}/agents-and-tools/agent-skills/overview`],
  ['request', 'stored', 'thread', BETA_API],
  ['request', 'stored', 'user_profile_id workspace_id', API],
  ['request', 'pass', 'diagnostics>diagnostics', API],
  ['diagnostics', 'stored', 'previous_message_id', API],

  ['message', 'pass', 'role content>block', API],
  ['metadata', 'pass', 'user_id', API],
  ['cache', 'pass', 'type ttl', `${DOCS}/build-with-claude/prompt-caching`],
  ['thinking', 'pass', 'type budget_tokens display', THINKING],
  ['tool_choice', 'pass', 'type name disable_parallel_tool_use', API],
  ['output_config', 'pass', 'effort format>format', `${DOCS}/build-with-claude/effort`],
  ['output_config', 'pass', 'task_budget>budget', BETA_API],
  ['budget', 'pass', 'type total remaining', BETA_API],
  ['format', 'pass', 'type schema*', OUTPUTS],
  ['context', 'pass', 'edits>edit', EDITING],
  ['edit', 'pass', 'type trigger>amount keep>amount clear_at_least>amount', EDITING],
  ['edit', 'pass', 'exclude_tools clear_tool_inputs', EDITING],
  ['edit', 'pass', 'instructions pause_after_compaction', `${DOCS}/build-with-claude/compaction`],
  ['amount', 'pass', 'type value', EDITING],

  ['block', 'pass', 'type text cache_control>cache citations>citation', API],
  ['block', 'pass', 'source>source title context transformations>transformations', API],
  ['transformations', 'pass', 'oversized_image', API],
  ['block', 'pass', 'thinking signature data', THINKING],
  ['block', 'pass', 'id name input* caller>caller toolset_name', API],
  ['block', 'pass', 'tool_use_id content>block is_error tool_name tool_references>block', API],
  ['block', 'pass', 'tool>tool_reference', BETA_API],
  ['block', 'pass', 'encrypted_content page_age url retrieved_at', `${TOOLS}/web-search-tool`],
  ['block', 'pass', 'error_code error_message return_code stdout stderr encrypted_stdout', API],
  ['block', 'pass', 'file_type num_lines start_line total_lines is_file_update', API],
  ['block', 'pass', 'lines new_lines new_start old_lines old_start', API],
  // In the history of code execution, this is only the name of a file that the model's code made. A file id
  // in `source` would read the file, so it is refused.
  ['block', 'pass', 'file_id', `${TOOLS}/code-execution-tool`],
  ['block', 'pass', 'server_name', MCP],
  ['block', 'pass', 'tabs>tab state_changes>state_change', API],
  ['tab', 'pass', 'tab_id title url active', API],
  ['state_change', 'pass', 'type tab_id download_id url path size_bytes error', API],
  ['tool_reference', 'pass', 'type name', BETA_API],
  ['caller', 'pass', 'type tool_id', `${TOOLS}/programmatic-tool-calling`],
  ['source', 'pass', 'type media_type data url content>block', API],
  ['source', 'stored', 'file_id', `${DOCS}/build-with-claude/files`],
  ['citation', 'pass', 'enabled type cited_text document_index document_title', CITATIONS],
  ['citation', 'pass', 'start_char_index end_char_index start_page_number end_page_number', API],
  ['citation', 'pass', 'start_block_index end_block_index search_result_index source title', API],
  ['citation', 'pass', 'url encrypted_index file_id', API],

  ['tool', 'pass', 'type name description input_schema* strict cache_control>cache', API],
  ['tool', 'pass', 'type=custom type=bash_* type=text_editor_* type=memory_*', API],
  ['tool', 'pass', 'type=computer_* type=computer_toolset_* type=browser_toolset_*', API],
  ['tool', 'pass', 'type=web_search_* type=web_fetch_* type=code_execution_*', API],
  ['tool', 'pass', 'type=tool_search_tool_bm25_* type=tool_search_tool_regex_*', `${TOOLS}/tool-search-tool`],
  ['tool', 'priced', 'type=mcp_toolset', MCP],
  ['tool', 'priced', 'type=advisor_*', `${TOOLS}/advisor-tool`],
  ['tool', 'pass', 'defer_loading allowed_callers eager_input_streaming input_examples*', API],
  ['tool', 'pass', 'max_characters configs* default_config*', API],
  [
    'tool',
    'pass',
    'display_width_px display_height_px display_number enable_zoom',
    `${TOOLS}/computer-use-tool`,
  ],
  [
    'tool',
    'pass',
    'allowed_domains blocked_domains max_uses user_location>location',
    `${TOOLS}/web-search-tool`,
  ],
  ['tool', 'pass', 'citations>citation max_content_tokens use_cache response_inclusion', API],
  ['tool', 'pass', 'url_sources>url_sources', `${TOOLS}/web-fetch-tool`],
  ['tool', 'pass', 'mcp_server_name', MCP],
  ['tool', 'pass', 'model max_tokens caching>cache', `${TOOLS}/advisor-tool`],
  ['location', 'pass', 'type city country region timezone', API],
  ['url_sources', 'pass', 'client_tool_results>url_source server_tool_results>url_source', API],
  ['url_sources', 'pass', 'user_input>url_source', API],
  ['url_source', 'pass', 'type tools>tool_reference', API],
];

/**
 * The flags admit members and events. Members that have a price or name a stored object are checked
 * separately. Flags of other endpoints (files, skills, agents, administration) are not listed, except those
 * that SDKs send along.
 */
const HEADERS: readonly HeaderLine[] = [
  ['anthropic-version', 'pass', '', `${DOCS}/api/versioning`],
  ['anthropic-dangerous-direct-browser-access', 'pass', '', SDK],
  ['anthropic-beta', 'flags', 'claude-code-20250219 oauth-2025-04-20', CLAUDE_CODE],
  ['anthropic-beta', 'flags', 'prompt-caching-scope-2026-01-05 effort-2025-11-24', CLAUDE_CODE],
  ['anthropic-beta', 'flags', 'prompt-caching-2024-07-31 extended-cache-ttl-2025-04-11', SDK],
  ['anthropic-beta', 'flags', 'cache-diagnosis-2026-04-07 token-counting-2024-11-01', SDK],
  ['anthropic-beta', 'flags', 'output-128k-2025-02-19 output-300k-2026-03-24', SDK],
  ['anthropic-beta', 'flags', 'context-1m-2025-08-07 context-management-2025-06-27', SDK],
  ['anthropic-beta', 'flags', 'compact-2026-01-12 compact-2026-09-04', SDK],
  ['anthropic-beta', 'flags', 'model-context-window-exceeded-2025-08-26', SDK],
  ['anthropic-beta', 'flags', 'interleaved-thinking-2025-05-14 dev-full-thinking-2025-05-14', SDK],
  ['anthropic-beta', 'flags', 'thinking-token-count-2026-05-13', SDK],
  ['anthropic-beta', 'flags', 'thinking-display-updates-2026-08-18', SDK],
  ['anthropic-beta', 'flags', 'thinking-binding-controls-2026-08-01', SDK],
  ['anthropic-beta', 'flags', 'structured-outputs-2025-11-13 task-budgets-2026-03-13', SDK],
  ['anthropic-beta', 'flags', 'pdfs-2024-09-25 files-api-2025-04-14 skills-2025-10-02', SDK],
  ['anthropic-beta', 'flags', 'computer-use-2024-10-22 computer-use-2025-01-24', SDK],
  ['anthropic-beta', 'flags', 'computer-use-2025-11-24 code-execution-2025-05-22', SDK],
  ['anthropic-beta', 'flags', 'code-execution-2025-08-25 web-fetch-2025-09-10', `${DOCS}/api/beta-headers`],
  ['anthropic-beta', 'flags', 'token-efficient-tools-2025-02-19', SDK],
  ['anthropic-beta', 'flags', 'fine-grained-tool-streaming-2025-05-14', `${DOCS}/api/beta-headers`],
  ['anthropic-beta', 'flags', 'advanced-tool-use-2025-11-20 tool-examples-2025-10-29', CLAUDE_CODE],
  ['anthropic-beta', 'flags', 'tool-search-tool-2025-10-19 inline-tools-2026-09-15', SDK],
  ['anthropic-beta', 'flags', 'mid-conversation-system-2026-04-07', CLAUDE_CODE],
  ['anthropic-beta', 'flags', 'mid-conversation-system-clear-at-2026-08-21', SDK],
  ['anthropic-beta', 'flags', 'mid-conversation-tool-changes-2026-07-01', SDK],
  ['anthropic-beta', 'flags', 'mid-conversation-output-config-2026-07-01', SDK],
  // These only admit members that the table of members prices.
  ['anthropic-beta', 'flags', 'fast-mode-2026-02-01 advisor-tool-2026-03-01', SDK],
  ['anthropic-beta', 'flags', 'mcp-client-2025-04-04 mcp-client-2025-11-20', SDK],
  ['anthropic-beta', 'flags', 'mcp-client-2026-09-15 mcp-servers-2025-12-04', SDK],
  ['anthropic-beta', 'flags', 'server-side-fallback-2026-06-01 server-side-fallback-2026-07-01', SDK],
];

/** Members and headers that pass on a mirror. */
export const MIRROR: MirrorTables = {
  members: compileMembers(MEMBERS),
  headers: compileHeaders('anthropic-', HEADERS),
};
