/** Reads and writes configuration files: YAML 1.2 or JSON, within limits. */
import { isAlias, isMap, isScalar, isSeq, parseDocument, stringify } from 'yaml';
import { DocumentError } from './shape.ts';
import { documentShape } from './document.ts';
import type { ConfigurationDocument } from './document.ts';

/** Largest size of a file in characters. */
const CHARACTERS_MAX = 500_000;
/** Maximum nesting. */
const DEPTH_MAX = 12;

/**
 * Reads a file. Refuses aliases, tags of other schemas, repeated keys, several documents and deep nesting.
 * Throws a DocumentError that names the place and says what to write.
 */
export function readDocument(source: string): ConfigurationDocument {
  return documentShape.read(valueOf(source), '');
}

function valueOf(source: string): unknown {
  if (source.length > CHARACTERS_MAX)
    throw new DocumentError('', `The file is longer than ${CHARACTERS_MAX} characters. Split it.`);
  const parsed = parse(source);
  const [problem] = [...parsed.errors, ...parsed.warnings];
  if (problem) throw new DocumentError('', `This is not valid YAML. ${problem.message}`);
  requirePlain(parsed.contents, 0);
  return parsed.toJS();
}

function parse(source: string): ReturnType<typeof parseDocument> {
  try {
    // The library's check of keys takes a time that is quadratic in their number; requirePlain checks them.
    return parseDocument(source, {
      version: '1.2',
      schema: 'core',
      merge: false,
      uniqueKeys: false,
      strict: true,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DocumentError('', `This is not valid YAML. ${reason}`);
  }
}

/** Throws a DocumentError if the tree is too deep, or if a mapping has the same key twice. */
function requirePlain(node: unknown, depth: number): void {
  if (depth > DEPTH_MAX)
    throw new DocumentError('', `The file is nested too deeply: at most ${DEPTH_MAX} levels.`);
  if (isAlias(node)) throw new DocumentError('', 'The file has an alias (*name). Write the value itself.');
  if (isSeq(node)) for (const item of node.items) requirePlain(item, depth + 1);
  if (!isMap(node)) return;
  const keys = new Set<unknown>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? key.value : undefined;
    if (typeof name !== 'string' || keys.has(name))
      throw new DocumentError(
        '',
        `The field ${String(name)} is there twice, or is not a name. Write it once.`,
      );
    keys.add(name);
    requirePlain(value, depth + 1);
  }
}

/** The file with these contents. `readDocument` returns equal contents. */
export function writeDocument(document: ConfigurationDocument): string {
  return stringify(document, { lineWidth: 0, schema: 'core', aliasDuplicateObjects: false });
}
