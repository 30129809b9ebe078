/** GraphQL types of client snippets. */
import 'reflect-metadata';
import { Field, ObjectType } from 'type-graphql';
import { describeEnum } from '../graphql/enums.ts';
import { SnippetHintKind } from './snippet.hints.ts';
import type { SnippetHint as Hint } from './snippet.hints.ts';
import type { Client } from './snippet.texts.ts';

export const ClientKind = describeEnum<Client>('ClientKind', 'A client with a set-up text.', {
  CURL: 'curl, in three wire formats.',
  OPENAI_PYTHON: 'The openai package for Python.',
  OPENAI_NODE: 'The openai package for Node.',
  ANTHROPIC_PYTHON: 'The anthropic package for Python.',
  ANTHROPIC_NODE: 'The @anthropic-ai/sdk package for Node.',
  GOOGLE_GENAI: 'The Google GenAI packages for Node and Python.',
  AI_SDK: 'The AI SDK (ai) for Node, with four provider packages.',
  CLAUDE_CODE: 'Claude Code.',
  CODEX: 'Codex CLI.',
  GEMINI_CLI: 'Gemini CLI.',
  OPENCODE: 'opencode.',
});

/** One file or shell command of a snippet. */
@ObjectType({ description: 'One file of a client snippet, or a shell command.' })
export class SnippetFile {
  @Field(() => String, { description: 'Path of the file; "Shell" for a command; a title for an example.' })
  path!: string;

  @Field(() => String, { description: 'Language of the text, for syntax highlighting.' })
  language!: string;

  @Field(() => String, { description: 'The text. YOUR_API_KEY stands for the secret of the key.' })
  content!: string;
}

/** A hint for the set-up, as data for clients with other languages. */
@ObjectType({ description: 'A hint for the set-up, as data for clients with other languages.' })
export class SnippetHint implements Hint {
  @Field(() => SnippetHintKind, { description: 'What the hint says.' })
  kind!: SnippetHintKind;

  @Field(() => String, {
    nullable: true,
    description: 'The command, version, setting or name that the hint is about; null if there is none.',
  })
  value!: string | null;
}

/** The texts that set up one client. */
@ObjectType({ description: 'The texts that set up one client.' })
export class ClientSnippet {
  @Field(() => ClientKind, { description: 'The client.' })
  client!: Client;

  @Field(() => String, { description: 'Name of the client.' })
  title!: string;

  @Field(() => [SnippetFile], { description: 'Files and commands, in the order of their use.' })
  files!: SnippetFile[];

  @Field(() => String, { description: 'A free request that checks address and key.' })
  verifyCommand!: string;

  @Field(() => [SnippetHint], { description: 'Hints for the set-up, in the order of their use.' })
  hints!: SnippetHint[];

  @Field(() => [String], { description: 'The hints in English.' })
  notes!: string[];
}
