/** Search results of the palette: keys, models, requests, pools, errors; more for administrators. */
import { useNavigate } from '@tanstack/react-router';
import {
  Boxes,
  CircleAlert,
  CircleQuestionMark,
  KeyRound,
  Plug,
  Receipt,
  SquareTerminal,
  Tag,
  Users,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { type FailureCode, FAILURES } from '@gateway/shared/failures';
import { type TFunction, useTranslation } from '../../translation.ts';
import { HELP_SECTIONS, SECTION_TEXTS } from '../help/places.ts';
import { AdminFindQuery, FindQuery, NamesQuery } from './find-documents.ts';
import type { Command } from './palette-commands.ts';
import type { Viewer } from './viewer.ts';

/** A pause in typing, in ms, after which the service is asked. */
const TYPING_MS = 150;
/** Shorter texts match too much. */
const SEARCH_CHARACTERS_MIN = 2;
/** A text that may be the id of a request. Earlier ids have 32 hex characters alone. */
const REQUEST_ID = /^(req_\w{6,}|[\da-f]{32})$/i;
/** The marks of code in texts. */
const MARKS = /<\/?code>/g;
const CODES = Object.keys(FAILURES) as FailureCode[];

/** The commands that lead to what was found. The palette ranks them. */
export function useFound(text: string, role: Viewer['role']): Command[] {
  const found = [useNames(), useKeysAndRequests(text), useAdminFound(text, role), useHelp()];
  return found.flat();
}

function useNames(): Command[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [{ data }] = useQuery({ query: NamesQuery, requestPolicy: 'cache-first' });
  const models = data?.catalog.nodes.map(({ name }) => ({
    id: `model:${name}`,
    icon: Tag,
    word: name,
    kind: t('palette.kinds.model'),
    run: () => void navigate({ to: '/pricing/$name', params: { name } }),
  }));
  const pools = data?.viewer?.pools.nodes.map(({ id, name, subdomain }) => ({
    id: `pool:${id}`,
    icon: Boxes,
    word: name,
    also: subdomain,
    kind: t('palette.kinds.pool'),
    run: () => void navigate({ to: '/pools/$id', params: { id } }),
  }));
  return [...(models ?? []), ...(pools ?? [])];
}

function useKeysAndRequests(text: string): Command[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = usePaused(text);
  const variables = { text: search, requestId: search, isRequest: REQUEST_ID.test(search) };
  const [{ data }] = useQuery({ query: FindQuery, variables, pause: search.length < SEARCH_CHARACTERS_MIN });
  const keys = data?.viewer?.apiKeys.nodes.map(({ id, name, suffix }) => ({
    id: `key:${id}`,
    icon: KeyRound,
    word: name,
    also: suffix ?? undefined,
    kind: t('palette.kinds.key'),
    run: () => void navigate({ to: '/keys/$id', params: { id } }),
  }));
  const entry = data?.requestReceipt?.entry;
  if (!entry) return keys ?? [];
  const request = {
    id: `request:${entry.id}`,
    icon: Receipt,
    word: entry.requestId,
    kind: t('palette.kinds.request'),
    run: () => void navigate({ to: '/usage', search: { request: entry.requestId } }),
  };
  return [...(keys ?? []), request];
}

function useAdminFound(text: string, role: Viewer['role']): Command[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const search = usePaused(text);
  const pause = role !== 'ADMIN' || search.length < SEARCH_CHARACTERS_MIN;
  const [{ data }] = useQuery({ query: AdminFindQuery, variables: { text: search }, pause });
  if (!data?.admin || pause) return [];
  const users = data.admin.users.nodes.map(({ id, email }) => ({
    id: `user:${id}`,
    icon: Users,
    word: email,
    kind: t('palette.kinds.user'),
    run: () => void navigate({ to: '/admin/users/$id', params: { id } }),
  }));
  const pools = data.admin.pools.nodes.map(({ id, name, subdomain }) => ({
    id: `customer-pool:${id}`,
    icon: Boxes,
    word: name,
    also: subdomain,
    kind: t('palette.kinds.customerPool'),
    run: () => void navigate({ to: '/admin/pools/$id', params: { id } }),
  }));
  const upstreams = data.admin.providers.map(({ id, name }) => ({
    id: `upstream:${id}`,
    icon: Plug,
    word: name,
    kind: t('palette.kinds.upstream'),
    run: () => void navigate({ to: '/admin/upstreams/$id', params: { id } }),
  }));
  return [...users, ...pools, ...upstreams];
}

/** Sections of the help page, documents, and errors of the API by code and status. */
function useHelp(): Command[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const kind = t('palette.kinds.help');
  const sections = HELP_SECTIONS.map((id) => ({
    id: `help:${id}`,
    icon: CircleQuestionMark,
    word: t(`help.${id}`),
    also: SECTION_TEXTS[id].map((text) => t(`help.${text}`).replaceAll(MARKS, '')).join(' '),
    kind,
    run: () => void navigate({ to: '/help', hash: id }),
  }));
  const conformance = {
    id: 'help:conformance',
    icon: CircleQuestionMark,
    word: t('help.conformance'),
    kind,
    run: () => void navigate({ to: '/docs/conformance' }),
  };
  const explorer = {
    id: 'help:explorer',
    icon: SquareTerminal,
    word: t('help.explorer'),
    kind,
    run: () => location.assign('/graphql'),
  };
  return [
    ...sections,
    conformance,
    explorer,
    ...failuresOf(t, (hash) => void navigate({ to: '/help', hash })),
  ];
}

function failuresOf(t: TFunction, show: (code: FailureCode) => void): Command[] {
  return CODES.map((code) => ({
    id: `failure:${code}`,
    icon: CircleAlert,
    word: `${FAILURES[code]} ${code}`,
    also: t(`help.failures.${code}`),
    kind: t('palette.kinds.failure'),
    run: () => show(code),
  }));
}

/** The text without space at its ends, after a pause in typing. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text.trim()), TYPING_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [text]);
  return paused;
}
