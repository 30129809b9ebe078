/** How a chat request was written for an upstream. */
import type { Pieces } from '../call/pieces.ts';
import type { ChatEvent, ChatResponse } from '../dialects/canonical.ts';
import type { Candidate } from '../upstreams/attempt.ts';
import { answerWithClientNames, withClientNames } from './quirk-tool-names.ts';
import type { ToolNames } from './tool-names.ts';

/** How the request was sent to one candidate. */
export interface SentRequest {
  candidate: Candidate;
  /** Whether the client's bytes were passed on, with few changes. */
  isMirrored: boolean;
  /** The members that were left out. */
  dropped: readonly string[];
  /** The client's names of tools by those that the upstream knows; undefined if they are the same. */
  names: ReadonlyMap<string, string> | undefined;
  /** The names for the upstream's format; undefined for a mirrored request. */
  toolNames: ToolNames | undefined;
}

/** A chat request in the upstream's format. */
export interface EncodedRequest {
  path: string;
  body: Buffer | Pieces | string;
  /** Headers of the upstream's format. */
  extra: Record<string, string>;
  /** The members that are left out. */
  dropped: string[];
  /** The names of tools for the format; absent for a mirrored request. */
  toolNames?: ToolNames;
}

/** The answer to a translated request, with the client's names of tools. */
export function clientAnswer(response: ChatResponse, { toolNames, names }: SentRequest): ChatResponse {
  const restored = toolNames?.restoredAnswer(response) ?? response;
  return names ? answerWithClientNames(restored, names) : restored;
}

/** The event of such an answer, with the client's names of tools. */
export function clientEvent(event: ChatEvent, { toolNames, names }: SentRequest): ChatEvent {
  const restored = toolNames?.restored(event) ?? event;
  return names ? withClientNames(restored, names) : restored;
}
