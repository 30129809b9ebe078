/** Decodes the tools and the tool choice of a request. */
import type { BuiltinTool, FunctionTool, Tool, ToolChoice } from '../canonical.ts';
import { fieldError, isObject, objectOf, objectsOf, storedObjectError, textOf } from '../fields.ts';
import type { Fields, JsonObject } from '../fields.ts';
import { NAME } from './wire.ts';

/** Separates namespace and name of a tool whose own name is taken. */
const NAMESPACE_SEPARATOR = '__';

/** The server-side tools that other formats have, too. */
const BUILTINS: Readonly<Record<string, NonNullable<BuiltinTool['builtin']>>> = {
  web_search: 'web-search',
  web_search_preview: 'web-search',
  web_search_2025_08_26: 'web-search',
  web_search_preview_2025_03_11: 'web-search',
  code_interpreter: 'code-execution',
};

/**
 * Reads `tools`. A tool of a namespace keeps its name if that is free; else its name is
 * `<namespace>__<name>`. Throws `invalid_request` for tools over stored files and containers.
 */
export function readTools(fields: Fields): Tool[] {
  const list = fields.objects('tools') ?? [];
  const isNamespace = (tool: Fields): boolean => tool.value.type === 'namespace';
  const taken = new Set(list.filter((tool) => !isNamespace(tool)).map((tool) => textOf(tool.value.name)));
  return list.flatMap((tool) => (isNamespace(tool) ? readNamespace(tool, taken) : [readTool(tool)]));
}

function readTool(tool: Fields): Tool {
  const type = tool.string('type') ?? 'function';
  if (type === 'function') return readFunction(tool);
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
  return readBuiltin(tool, type);
}

function readFunction(tool: Fields): FunctionTool & { at: string } {
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

function readBuiltin(tool: Fields, type: string): Tool {
  refuseStoredObjects(tool);
  tool.ignoreAll();
  const builtin = BUILTINS[type];
  const filters = objectOf(tool.value.filters);
  return {
    kind: 'builtin',
    at: tool.at,
    dialect: NAME,
    value: tool.value,
    ...(builtin ? { builtin } : {}),
    ...domains('allowedDomains', filters.allowed_domains),
    ...domains('blockedDomains', filters.blocked_domains),
  };
}

/** Throws `invalid_request` if the tool refers to vector stores, files or containers at the provider. */
function refuseStoredObjects(tool: Fields): void {
  const { container, vector_store_ids: stores } = tool.value;
  if (Array.isArray(stores) && stores.length > 0) throw storedObjectError(tool.pointer('vector_store_ids'));
  if (typeof container === 'string') throw storedObjectError(tool.pointer('container'));
  const files = objectOf(container).file_ids;
  if (Array.isArray(files) && files.length > 0)
    throw storedObjectError(`${tool.pointer('container')}/file_ids`);
  if (objectOf(tool.value.input_image_mask).file_id !== undefined)
    throw storedObjectError(`${tool.pointer('input_image_mask')}/file_id`);
  const environment = objectOf(tool.value.environment);
  if (environment.type === 'container_reference')
    throw storedObjectError(`${tool.pointer('environment')}/container_id`);
}

function domains(name: 'allowedDomains' | 'blockedDomains', value: unknown): Partial<BuiltinTool> {
  const list = Array.isArray(value) ? value.filter((domain) => typeof domain === 'string') : [];
  return list.length > 0 ? { [name]: list } : {};
}

function readNamespace(tool: Fields, taken: Set<string>): Tool[] {
  tool.ignore('type');
  const name = tool.requiredString('name');
  const description = tool.string('description') ?? '';
  return (tool.objects('tools') ?? []).map((inner) => {
    const decoded = readTool(inner);
    if (decoded.kind !== 'function') return decoded;
    const unique = taken.has(decoded.name) ? `${name}${NAMESPACE_SEPARATOR}${decoded.name}` : decoded.name;
    taken.add(unique);
    return { ...decoded, name: unique, namespace: { name, description, tool: decoded.name } };
  });
}

/** The canonical name of a tool that a tool call or tool choice refers to by name and namespace. */
export function canonicalName(tools: readonly Tool[], name: string, namespace: string | undefined): string {
  if (namespace === undefined) return name;
  const tool = tools.find(
    (each) => each.kind === 'function' && each.namespace?.name === namespace && each.namespace.tool === name,
  );
  return tool?.kind === 'function' ? tool.name : name;
}

/**
 * Reads `tool_choice`; undefined if it is absent or names a server-side tool, in which case it stays an
 * extra.
 */
export function readToolChoice(fields: Fields, tools: readonly Tool[]): ToolChoice | undefined {
  const toolChoice = fields.value.tool_choice;
  if (toolChoice === 'auto' || toolChoice === 'none' || toolChoice === 'required') {
    fields.ignore('tool_choice');
    return toolChoice;
  }
  if (toolChoice === undefined || toolChoice === null) return undefined;
  if (!isObject(toolChoice))
    throw fieldError(fields.pointer('tool_choice'), 'auto, none, required or an object');
  if (
    (toolChoice.type === 'function' || toolChoice.type === 'custom') &&
    typeof toolChoice.name === 'string'
  ) {
    fields.ignore('tool_choice');
    return { name: canonicalName(tools, toolChoice.name, namespaceOf(toolChoice)) };
  }
  if (toolChoice.type !== 'allowed_tools') return undefined;
  fields.ignore('tool_choice');
  const allowed = objectsOf(toolChoice.tools).filter((tool) => typeof tool.name === 'string');
  return {
    allowed: allowed.map((tool) => canonicalName(tools, textOf(tool.name), namespaceOf(tool))),
    mode: toolChoice.mode === 'required' ? 'required' : 'auto',
  };
}

function namespaceOf(value: JsonObject): string | undefined {
  return typeof value.namespace === 'string' ? value.namespace : undefined;
}
