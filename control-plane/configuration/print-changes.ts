/** Writes changes as lines for a terminal. */

/** A change as the API returns it. */
export interface ShownChange {
  kind: string;
  name: string;
  action: 'CREATE' | 'UPDATE' | 'REMOVE';
  fields: { name: string; before: unknown; after: unknown }[];
}

const SIGNS = { CREATE: '+', UPDATE: '~', REMOVE: '-' } as const;

/** Prints each change with its fields, or that there is none. */
export function printChanges(changes: readonly ShownChange[], print: (line: string) => void): void {
  if (changes.length === 0) print('No changes.');
  for (const { kind, name, action, fields } of changes) {
    print(`${SIGNS[action]} ${kind} ${plain(name)}`.trimEnd());
    for (const field of fields) {
      const after = JSON.stringify(field.after);
      print(
        `    ${field.name}: ${action === 'CREATE' ? after : `${JSON.stringify(field.before)} → ${after}`}`,
      );
    }
  }
}

/** Names come from the file: a control character could change what a terminal shows. */
function plain(name: string): string {
  return name.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}
