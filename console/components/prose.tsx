/**
 * Renders the privacy policy's Markdown: headings, paragraphs, lists, tables, bold, code and links, but no
 * HTML.
 */
import { Fragment, type ReactNode } from 'react';

type Block =
  | { kind: 'heading'; level: 1 | 2 | 3; text: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'list'; ordered: boolean; items: string[] }
  | { kind: 'table'; head: string[]; rows: string[][] };

/** Splits Markdown into blocks; unknown syntax becomes a paragraph. */
export function blocksOf(markdown: string): Block[] {
  return markdown
    .trim()
    .split(/\n\s*\n/)
    .flatMap(blockOf);
}

function blockOf(text: string): Block[] {
  const lines = text.split('\n').map((line) => line.trimEnd());
  const [first = '', ...rest] = lines;
  const heading = /^(#{1,6})\s+(.*)$/.exec(first);
  if (heading) {
    const level = Math.min(3, heading[1]?.length ?? 1);
    const own: Block = {
      kind: 'heading',
      level: level === 1 ? 1 : level === 2 ? 2 : 3,
      text: heading[2] ?? '',
    };
    return rest.length > 0 ? [own, ...blockOf(rest.join('\n'))] : [own];
  }
  if (lines.every((line) => line.startsWith('|'))) return [tableOf(lines)];
  const start = lines.findIndex((line) => BULLET.test(line));
  if (start < 0) return [{ kind: 'paragraph', text: lines.join(' ') }];
  const before: Block[] = start > 0 ? [{ kind: 'paragraph', text: lines.slice(0, start).join(' ') }] : [];
  return [...before, listOf(lines.slice(start))];
}

const BULLET = /^\s*(?:[-*]|\d+\.)\s+/;

function listOf(lines: readonly string[]): Block {
  const items: string[] = [];
  for (const line of lines) {
    if (BULLET.test(line)) items.push(line.replace(BULLET, ''));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`);
  }
  return { kind: 'list', ordered: /^\s*\d/.test(lines[0] ?? ''), items };
}

function tableOf(lines: readonly string[]): Block {
  const [head = [], ...rows] = lines
    .filter((line) => !/^[|\s:-]+$/.test(line))
    .map((line) =>
      line
        .replace(/^\||\|$/g, '')
        .split('|')
        .map((cell) => cell.trim()),
    );
  return { kind: 'table', head, rows };
}

/** The rendered text. */
export function Prose({ markdown }: { markdown: string }) {
  return (
    <div className="flex flex-col gap-4 text-chat">
      {blocksOf(markdown).map((block, index) => (
        <Part key={index} block={block} />
      ))}
    </div>
  );
}

function Part({ block }: { block: Block }) {
  switch (block.kind) {
    // The page has its own h1, so first-level headings of the text become h2.
    case 'heading':
      return block.level === 3 ? (
        <h3 className="mt-1 font-semibold">{inline(block.text)}</h3>
      ) : (
        <h2 className="mt-4 text-section">{inline(block.text)}</h2>
      );
    case 'paragraph':
      return <p>{inline(block.text)}</p>;
    case 'list':
      return <List ordered={block.ordered} items={block.items} />;
    case 'table':
      return <Grid head={block.head} rows={block.rows} />;
  }
}

function List({ ordered, items }: { ordered: boolean; items: string[] }) {
  const content = items.map((item, index) => <li key={index}>{inline(item)}</li>);
  return ordered ? (
    <ol className="flex list-decimal flex-col gap-1.5 pl-6">{content}</ol>
  ) : (
    <ul className="flex list-disc flex-col gap-1.5 pl-6">{content}</ul>
  );
}

function Grid({ head, rows }: { head: string[]; rows: string[][] }) {
  return (
    <div className="relative overflow-x-auto" tabIndex={0}>
      <table className="w-full border-collapse text-body">
        <thead>
          <tr className="border-b border-line-strong">
            {head.map((cell, index) => (
              <th key={index} className="py-2 pr-4 text-left text-hint font-medium text-ink-3">
                {inline(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index} className="border-b border-line">
              {row.map((cell, place) => (
                <td key={place} className="py-2 pr-4 align-top">
                  {inline(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const INLINE = /\*\*(.+?)\*\*|`([^`]+)`|\[([^\]]+)\]\(((?:https?:\/\/|\/(?!\/)|mailto:)[^)\s]*)\)/g;

function inline(text: string): ReactNode {
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, bold, code, label, address] = match;
    parts.push(text.slice(end, match.index));
    if (bold !== undefined) parts.push(<strong className="font-semibold">{bold}</strong>);
    else if (code !== undefined) parts.push(<code>{code}</code>);
    else
      parts.push(
        <a href={address} className="text-accent underline">
          {label}
        </a>,
      );
    end = match.index + whole.length;
  }
  parts.push(text.slice(end));
  return parts.map((part, index) => <Fragment key={index}>{part}</Fragment>);
}
