/** Splits code into coloured parts. The parts are data, so that hostile code cannot become markup. */
import type { LanguageFn } from 'highlight.js';
import { createLowlight } from 'lowlight';
import { grammarOf } from './grammars.ts';

/** How a part of code is shown; `plain` without a colour. */
export type Tone = 'plain' | 'word' | 'text' | 'note' | 'number' | 'name';

/** A part of code. */
export interface CodePart {
  text: string;
  tone: Tone;
}

/** Longer code is shown without colours, because the page would be slow, in characters. */
const CODE_CHARACTERS_MAX = 50_000;

/** Tone by the first part of a class name of the library. */
const TONES: Readonly<Record<string, Tone>> = {
  keyword: 'word',
  'selector-tag': 'word',
  literal: 'number',
  number: 'number',
  symbol: 'number',
  string: 'text',
  regexp: 'text',
  addition: 'text',
  comment: 'note',
  quote: 'note',
  meta: 'note',
  deletion: 'number',
  title: 'name',
  attr: 'name',
  attribute: 'name',
  name: 'word',
  type: 'name',
  section: 'name',
  built_in: 'name',
};

/** The parts of code in this language; undefined if there is no grammar for it, or the code is too long. */
export async function highlighted(language: string, code: string): Promise<CodePart[] | undefined> {
  if (code.length > CODE_CHARACTERS_MAX) return undefined;
  const grammar = await grammarOf(language);
  return grammar && partsOf(grammar, code);
}

/** The parts of code, in order. Their texts together are the code. */
export function partsOf(grammar: LanguageFn, code: string): CodePart[] {
  const { children } = createLowlight({ code: grammar }).highlight('code', code);
  return flattened(children, 'plain');
}

type Nodes = ReturnType<ReturnType<typeof createLowlight>['highlight']>['children'];

function flattened(nodes: Nodes, tone: Tone): CodePart[] {
  return nodes.flatMap((node): CodePart[] => {
    if (node.type === 'text') return [{ text: node.value, tone }];
    if (node.type !== 'element') return [];
    return flattened(node.children, toneOf(node.properties['className']) ?? tone);
  });
}

function toneOf(classes: unknown): Tone | undefined {
  const [first] = Array.isArray(classes) ? classes : [];
  return typeof first === 'string' ? TONES[first.replace('hljs-', '')] : undefined;
}
