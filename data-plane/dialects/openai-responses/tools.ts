/** Tools and the choice among them, between the responses format and the canonical model. */
import type { BuiltinTool, ChatRequest, FunctionTool, Tool, ToolChoice } from '../canonical.ts';
import type { Drops } from '../drops.ts';
import { isObject, objectOf, objectsOf, refuseStored, textOf, wrong } from '../fields.ts';
import type { Fields, JsonObject } from '../fields.ts';

const DIALECT = 'openai-responses';

/** Separates namespace and tool where the tool's own name is taken already. */
const NAMESPACE_SEPARATOR = '__';

const BUILTINS: Readonly<Record<string, NonNullable<BuiltinTool['builtin']>>> = {
  web_search: 'web-search',
  web_search_preview: 'web-search',
  web_search_2025_08_26: 'web-search',
  web_search_preview_2025_03_11: 'web-search',
  code_interpreter: 'code-execution',
};

/**
 * The tools of a request. A tool inside a namespace keeps its own name while that is free, else it is called
 * `<namespace>__<name>`. Throws `invalid_request` for tools over stored files and containers.
 */
export function decodeTools(fields: Fields): Tool[] {
  const list = fields.objects('tools') ?? [];
  const isNamespace = (tool: Fields): boolean => tool.value.type === 'namespace';
  const taken = new Set(list.filter((tool) => !isNamespace(tool)).map((tool) => textOf(tool.value.name)));
  return list.flatMap((tool) => (isNamespace(tool) ? decodeNamespace(tool, taken) : [decodeTool(tool)]));
}

function decodeTool(tool: Fields): Tool {
  const type = tool.string('type') ?? 'function';
  if (type === 'function') return decodeFunction(tool);
  if (type === 'custom') {
    const format = tool.take('format');
    return {
      kind: 'custom',
      at: tool.at,
      name: tool.requiredString('name'),
      description: tool.string('description') ?? '',
      ...(isObject(format) ? { format } : {}),
    };
  }
  return decodeBuiltin(tool, type);
}

function decodeFunction(tool: Fields): FunctionTool & { at: string } {
  const parameters = tool.whole('parameters');
  const strict = tool.boolean('strict');
  return {
    kind: 'function',
    at: tool.at,
    name: tool.requiredString('name'),
    description: tool.string('description') ?? '',
    ...(parameters ? { parameters } : {}),
    ...(strict === undefined ? {} : { strict }),
  };
}

function decodeBuiltin(tool: Fields, type: string): Tool {
  refuseStoredIn(tool);
  tool.ignoreAll();
  const builtin = BUILTINS[type];
  const filters = objectOf(tool.value.filters);
  return {
    kind: 'builtin',
    at: tool.at,
    dialect: DIALECT,
    value: tool.value,
    ...(builtin ? { builtin } : {}),
    ...domains('allowedDomains', filters.allowed_domains),
    ...domains('blockedDomains', filters.blocked_domains),
  };
}

/** Vector stores and containers live at the provider, under an account that all customers share. */
function refuseStoredIn(tool: Fields): void {
  const { container, vector_store_ids: stores } = tool.value;
  if (Array.isArray(stores) && stores.length > 0) throw refuseStored(tool.pointer('vector_store_ids'));
  if (typeof container === 'string') throw refuseStored(tool.pointer('container'));
  const files = objectOf(container).file_ids;
  if (Array.isArray(files) && files.length > 0) throw refuseStored(`${tool.pointer('container')}/file_ids`);
  if (objectOf(tool.value.input_image_mask).file_id !== undefined)
    throw refuseStored(`${tool.pointer('input_image_mask')}/file_id`);
  const environment = objectOf(tool.value.environment);
  if (environment.type === 'container_reference')
    throw refuseStored(`${tool.pointer('environment')}/container_id`);
}

function domains(name: 'allowedDomains' | 'blockedDomains', value: unknown): Partial<BuiltinTool> {
  const list = Array.isArray(value) ? value.filter((domain) => typeof domain === 'string') : [];
  return list.length > 0 ? { [name]: list } : {};
}

function decodeNamespace(tool: Fields, taken: Set<string>): Tool[] {
  tool.ignore('type');
  const name = tool.requiredString('name');
  const description = tool.string('description') ?? '';
  return (tool.objects('tools') ?? []).map((inner) => {
    const decoded = decodeTool(inner);
    if (decoded.kind !== 'function') return decoded;
    const unique = taken.has(decoded.name) ? `${name}${NAMESPACE_SEPARATOR}${decoded.name}` : decoded.name;
    taken.add(unique);
    return { ...decoded, name: unique, namespace: { name, description, tool: decoded.name } };
  });
}

/** The canonical name of a tool that a call or a choice names in the wire's own words. */
export function canonicalName(tools: readonly Tool[], name: string, namespace: string | undefined): string {
  if (namespace === undefined) return name;
  const tool = tools.find(
    (each) => each.kind === 'function' && each.namespace?.name === namespace && each.namespace.tool === name,
  );
  return tool?.kind === 'function' ? tool.name : name;
}

/** How a canonical tool name is written: with its namespace where it was declared in one. */
export function wireName(tools: readonly Tool[], name: string): { name: string; namespace?: string } {
  const tool = tools.find((each) => each.kind === 'function' && each.name === name);
  if (tool?.kind !== 'function' || !tool.namespace) return { name };
  return { name: tool.namespace.tool, namespace: tool.namespace.name };
}

/** The tool choice, undefined where the format's own server-side tool is chosen (it then stays an extra). */
export function decodeToolChoice(fields: Fields, tools: readonly Tool[]): ToolChoice | undefined {
  const choice = fields.value.tool_choice;
  if (choice === 'auto' || choice === 'none' || choice === 'required') {
    fields.ignore('tool_choice');
    return choice;
  }
  if (choice === undefined || choice === null) return undefined;
  if (!isObject(choice)) throw wrong(fields.pointer('tool_choice'), 'auto, none, required or an object');
  if ((choice.type === 'function' || choice.type === 'custom') && typeof choice.name === 'string') {
    fields.ignore('tool_choice');
    return { name: canonicalName(tools, choice.name, namespaceOf(choice)) };
  }
  if (choice.type !== 'allowed_tools') return undefined;
  fields.ignore('tool_choice');
  const allowed = objectsOf(choice.tools).filter((tool) => typeof tool.name === 'string');
  return {
    allowed: allowed.map((tool) => canonicalName(tools, textOf(tool.name), namespaceOf(tool))),
    mode: choice.mode === 'required' ? 'required' : 'auto',
  };
}

function namespaceOf(value: JsonObject): string | undefined {
  return typeof value.namespace === 'string' ? value.namespace : undefined;
}

/** The tools for an upstream or for the echo in an answer; names what this format has no tool for. */
export function encodeTools(tools: readonly Tool[], drops?: Drops): JsonObject[] {
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
      inner.push(encodeFunction(tool, tool.namespace.tool));
      continue;
    }
    const value = tool.kind === 'function' ? encodeFunction(tool, tool.name) : encodeOther(tool);
    if (value) encoded.push(value);
    else drops?.add(tool.at);
  }
  return encoded;
}

/** `strict` is always said: this format takes a tool without it for strict, the others do not. */
function encodeFunction(tool: FunctionTool, name: string): JsonObject {
  return {
    type: 'function',
    name,
    ...(tool.description ? { description: tool.description } : {}),
    parameters: tool.parameters ?? { type: 'object', properties: {} },
    strict: tool.strict ?? false,
  };
}

function encodeOther(tool: Exclude<Tool, { kind: 'function' }>): JsonObject | undefined {
  if (tool.kind === 'custom') {
    const { name, description, format } = tool;
    return { type: 'custom', name, ...(description ? { description } : {}), ...(format ? { format } : {}) };
  }
  if (tool.dialect === DIALECT) return tool.value;
  if (tool.builtin === 'code-execution') return { type: 'code_interpreter', container: { type: 'auto' } };
  if (tool.builtin !== 'web-search') return undefined;
  const filters = {
    ...(tool.allowedDomains ? { allowed_domains: tool.allowedDomains } : {}),
    ...(tool.blockedDomains ? { blocked_domains: tool.blockedDomains } : {}),
  };
  return { type: 'web_search', ...(Object.keys(filters).length > 0 ? { filters } : {}) };
}

/** The tool choice on the wire. */
export function encodeToolChoice({ toolChoice, tools }: Pick<ChatRequest, 'toolChoice' | 'tools'>): unknown {
  if (toolChoice === undefined || typeof toolChoice === 'string') return toolChoice;
  if ('name' in toolChoice) return reference(tools, toolChoice.name);
  return {
    type: 'allowed_tools',
    mode: toolChoice.mode,
    tools: toolChoice.allowed.map((name) => reference(tools, name)),
  };
}

function reference(tools: readonly Tool[], name: string): JsonObject {
  const isCustom = tools.some((tool) => tool.kind === 'custom' && tool.name === name);
  return { type: isCustom ? 'custom' : 'function', ...wireName(tools, name) };
}
