/** API types of the texts that set up clients. */
import 'reflect-metadata';
import { Field, ObjectType } from 'type-graphql';
import { describeEnum } from '../enums.ts';
import type { Client } from './snippet.texts.ts';

export const ClientKind = describeEnum<Client>('ClientKind', 'Clients that people use.', {
  CURL: 'curl, in three formats.',
  OPENAI_PYTHON: 'The openai package for Python.',
  OPENAI_NODE: 'The openai package for Node.',
  ANTHROPIC_PYTHON: 'The anthropic package for Python.',
  ANTHROPIC_NODE: 'The @anthropic-ai/sdk package for Node.',
  GOOGLE_GENAI: 'The Google GenAI packages for Node and Python.',
  CLAUDE_CODE: 'Claude Code.',
  CODEX: 'Codex CLI.',
  GEMINI_CLI: 'Gemini CLI.',
  OPENCODE: 'opencode.',
});

/** One file of a client's set-up. */
@ObjectType({ description: "One file of a client's set-up, or what is typed." })
export class SnippetFile {
  @Field(() => String, { description: 'Where it belongs, or what it is.' })
  path!: string;

  @Field(() => String, { description: 'Its language, as highlighters call it.' })
  language!: string;

  @Field(() => String, { description: 'The text; YOUR_API_KEY stands for the secret.' })
  content!: string;
}

/** What one client needs. */
@ObjectType({ description: 'What one client needs to use the gateway.' })
export class ClientSnippet {
  @Field(() => ClientKind, { description: 'The client.' })
  client!: Client;

  @Field(() => String, { description: 'Its name.' })
  title!: string;

  @Field(() => [SnippetFile], { description: 'Its files, in the order in which they are needed.' })
  files!: SnippetFile[];

  @Field(() => String, { description: 'A free request that shows whether address and key work.' })
  verifyCommand!: string;

  @Field(() => [String], { description: 'What people stumble over, in English.' })
  notes!: string[];
}
