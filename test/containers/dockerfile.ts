/** Parses a Dockerfile into stages and instructions. */
import { readFileSync } from 'node:fs';

export interface Instruction {
  /** In capital letters, e.g. `COPY`. */
  name: string;
  text: string;
}

export interface Stage {
  base: string;
  alias: string | undefined;
  instructions: Instruction[];
}

/**
 * Reads a Dockerfile without its comments, with continued lines joined. Options stay in the text of an
 * instruction.
 */
export function readDockerfile(path: string): Stage[] {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const stages: Stage[] = [];
  for (const line of lines) {
    const [, name = '', text = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') {
      const [base = '', , alias] = text.split(/\s+/);
      stages.push({ base, alias, instructions: [] });
    } else stages.at(-1)?.instructions.push({ name: name.toUpperCase(), text });
  }
  return stages;
}

/** The texts of all instructions of one name. */
export function textsOf(stage: Stage | undefined, name: string): string[] {
  return stage?.instructions.filter((item) => item.name === name).map(({ text }) => text) ?? [];
}

/**
 * The arguments of an instruction in exec form. Throws for the shell form: a shell would not pass signals on.
 */
export function commandOf(text: string): string[] {
  const list: unknown = JSON.parse(text.slice(text.indexOf('[')));
  if (Array.isArray(list) && list.every((part) => typeof part === 'string')) return list;
  throw new Error(`${text} is not in exec form. Write it as a JSON list of strings.`);
}
