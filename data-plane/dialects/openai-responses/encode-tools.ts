/** Encodes the tools and the tool choice of a request. */
import type { ChatRequest, FunctionTool, Tool } from '../canonical.ts';
import type { Drops } from '../drops.ts';
import type { JsonObject } from '../fields.ts';
import { NAME } from './wire.ts';

/**
 * Encodes `tools` of a request or of the answer that repeats it. Adds to `drops` what this format has no
 * tool for.
 */
export function writeTools(tools: readonly Tool[], drops?: Drops): JsonObject[] {
  const encoded: JsonObject[] = [];
  const namespaces = new Map<string, JsonObject[]>();
  for (const tool of tools) {
    if (tool.kind === 'function' && tool.namespace) {
      const { name, description } = tool.namespace;
      let inner = namespaces.get(name);
      if (!inner) {
        inner = [];
        namespaces.set(name, inner);
        encoded.push({ type: 'namespace', name, description, tools: inner });
      }
      inner.push(writeFunction(tool, tool.namespace.tool));
      continue;
    }
    const value = tool.kind === 'function' ? writeFunction(tool, tool.name) : writeOther(tool);
    if (value) encoded.push(value);
    else drops?.add(tool.at);
  }
  return encoded;
}

/** Always writes `strict`: this format treats a tool without it as strict, other formats do not. */
function writeFunction(tool: FunctionTool, name: string): JsonObject {
  return {
    type: 'function',
    name,
    ...(tool.description ? { description: tool.description } : {}),
    parameters: tool.parameters ?? { type: 'object', properties: {} },
    strict: tool.strict ?? false,
  };
}

function writeOther(tool: Exclude<Tool, { kind: 'function' }>): JsonObject | undefined {
  if (tool.kind === 'custom') {
    const { name, description, format } = tool;
    return { type: 'custom', name, ...(description ? { description } : {}), ...(format ? { format } : {}) };
  }
  if (tool.dialect === NAME) return tool.value;
  if (tool.builtin === 'code-execution') return { type: 'code_interpreter', container: { type: 'auto' } };
  if (tool.builtin !== 'web-search') return undefined;
  const filters = {
    ...(tool.allowedDomains ? { allowed_domains: tool.allowedDomains } : {}),
    ...(tool.blockedDomains ? { blocked_domains: tool.blockedDomains } : {}),
  };
  return { type: 'web_search', ...(Object.keys(filters).length > 0 ? { filters } : {}) };
}

/** Encodes `tool_choice`. */
export function writeToolChoice({ toolChoice, tools }: Pick<ChatRequest, 'toolChoice' | 'tools'>): unknown {
  if (toolChoice === undefined || typeof toolChoice === 'string') return toolChoice;
  if ('name' in toolChoice) return toolReference(tools, toolChoice.name);
  return {
    type: 'allowed_tools',
    mode: toolChoice.mode,
    tools: toolChoice.allowed.map((name) => toolReference(tools, name)),
  };
}

function toolReference(tools: readonly Tool[], name: string): JsonObject {
  const isCustom = tools.some((tool) => tool.kind === 'custom' && tool.name === name);
  return { type: isCustom ? 'custom' : 'function', ...wireName(tools, name) };
}

/** The wire name of a tool, with the namespace that declares it, if any. */
export function wireName(tools: readonly Tool[], name: string): { name: string; namespace?: string } {
  const tool = tools.find((each) => each.kind === 'function' && each.name === name);
  if (tool?.kind !== 'function' || !tool.namespace) return { name };
  return { name: tool.namespace.tool, namespace: tool.namespace.name };
}
