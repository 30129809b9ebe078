/** Writes the table of limits as the page docs/limits.md. */
import { CALLERS, ENTRANCES, RESOURCES } from './cells.ts';
import type { Cell, Entrance, Row, Section } from './cells.ts';
import { valueOf } from './read.ts';

const INTRODUCTION = `# Limits

What one caller can take of the gateway, for each entrance and each resource. \`test/limits/\` has this
table as data. \`test/limits.test.ts\` reads the values from the code and checks that each proof exists; with
\`-u\` it writes this page. Do not edit the page.

- **anonymous address**: no valid key, session or token. An IPv6 network of /64 counts as one address.
- **account without money**: a session, a token, or a key of a wallet that cannot pay.
- **paying key**: a key whose wallet or pool pays.
- **node**: a node with its token. **operator**: an administrator, or a reader of health and metrics.

Numbers in brackets name the proofs below each table.
`;

/** The whole page. */
export function documentOf(table: Readonly<Record<Entrance, Section>>): string {
  return `${[INTRODUCTION, ...ENTRANCES.map((entrance) => sectionOf(entrance, table[entrance]))].join('\n')}`;
}

function sectionOf(entrance: Entrance, section: Section): string {
  const reasons = RESOURCES.flatMap((resource) => CALLERS.map((caller) => section[resource][caller]));
  const [only] = reasons;
  const title = `## ${entrance.charAt(0).toUpperCase()}${entrance.slice(1)}`;
  const isOne = only && 'reason' in only && reasons.every((cell) => textOf(cell, []) === textOf(only, []));
  if (isOne) return `${title}\n\nNot applicable: ${only.reason}.\n`;
  const proofs: string[] = [];
  const rows = RESOURCES.map((resource) => rowOf(resource, section[resource], proofs));
  return [
    title,
    '',
    `| resource | ${CALLERS.join(' | ')} |`,
    `|${'---|'.repeat(CALLERS.length + 1)}`,
    ...rows,
    '',
    ...proofs.map((proof, index) => `${index + 1}. ${proof}`),
    '',
  ].join('\n');
}

/** A row; a cell that is the same as the one before it says so. */
function rowOf(resource: string, row: Row, proofs: string[]): string {
  const texts = CALLERS.map((caller) => textOf(row[caller], proofs));
  const cells = texts.map((text, index) => (index > 0 && text === texts[index - 1] ? 'same' : text));
  return `| ${resource} | ${cells.join(' | ')} |`;
}

function textOf(cell: Cell, proofs: string[]): string {
  if ('reason' in cell) return `not applicable: ${cell.reason}`;
  const numbers = cell.proofs.map((proof) => {
    if (!proofs.includes(proof)) proofs.push(proof);
    return `[${proofs.indexOf(proof) + 1}]`;
  });
  return `${cell.limits.map(limitText).join(', ')} ${numbers.join(' ')}`;
}

function limitText(reference: string): string {
  const [path = '', name = ''] = reference.split(' ');
  const where = path.endsWith('/limits.ts') ? '' : ` of ${path}`;
  return `\`${name}\` ${valueOf(reference).toLocaleString('en')}${where}`;
}
