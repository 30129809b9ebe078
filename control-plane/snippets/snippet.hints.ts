/** The hints of client snippets as data, which clients put into words of the reader's language. */
import { describeEnum } from '../graphql/enums.ts';

export const SnippetHintKind = describeEnum('SnippetHintKind', 'What a hint of a client snippet says.', {
  INSTALL: 'Install the client with the command `value`.',
  INSTALL_PROVIDER:
    'Install the SDK with the command `value`, and the provider package of the example. Every model works.',
  ADDRESS_COMPLETED: 'The client adds `value` to the address.',
  TESTED: 'The settings were tested with the version `value` of the client.',
  SHOWS_ADDRESS: 'The command `value` of the client shows the address that is used.',
  NOT_IN_PROJECT: 'The settings file of a project may be committed: it is no place for the key.',
  NAME_OF_VARIABLE: 'The setting `value` is the name of a variable, not the key.',
  MAKES_TITLES: 'The client makes titles of sessions with requests to the model of the setting `value`.',
  HOST_NAME: 'If the host name `value` is not found, it must be added to /etc/hosts for 127.0.0.1.',
});
export type SnippetHintKind = keyof typeof SnippetHintKind;

/** A hint for the set-up. */
export interface SnippetHint {
  kind: SnippetHintKind;
  /** The command, version, setting or name that the kind is about; null for kinds without one. */
  value: string | null;
}

const ENGLISH: Readonly<Record<SnippetHintKind, (value: string) => string>> = {
  INSTALL: (command) => command,
  INSTALL_PROVIDER: (command) =>
    `${command}, and the provider package of the example. Each example works with every model.`,
  ADDRESS_COMPLETED: (path) => `The address has no ${path}: the client adds it.`,
  TESTED: (version) => `Tested with ${version}.`,
  SHOWS_ADDRESS: (command) => `${command} in a session shows the address that is used.`,
  NOT_IN_PROJECT: () => 'Do not put the key into the settings file of a project, which may be committed.',
  NAME_OF_VARIABLE: (setting) => `${setting} is the name of a variable, not the key.`,
  MAKES_TITLES: (setting) => `It generates session titles with separate requests to ${setting}.`,
  HOST_NAME: (name) => `If ${name} is not found, add the line "127.0.0.1 ${name}" to /etc/hosts.`,
};

/** A hint. */
export const hint = (kind: SnippetHintKind, value: string | null = null): SnippetHint => ({ kind, value });

/** The hint as an English sentence or command. */
export const noteOf = ({ kind, value }: SnippetHint): string => ENGLISH[kind](value ?? '');
