/**
 * The incidents as feeds: Atom (RFC 4287, https://www.rfc-editor.org/rfc/rfc4287) and JSON Feed 1.1
 * (https://www.jsonfeed.org/version/1.1/).
 */
import type { Incident } from './incident.service.ts';
import type { StatusView } from './status.service.ts';

/** Paths of the feeds on the address of the console. */
export const ATOM_PATH = '/status/feed.atom';
export const JSON_PATH = '/status/feed.json';

const TITLE = 'Gateway status';

type FeedSource = Pick<StatusView, 'incidents' | 'from'>;

/** When an incident last changed; without incidents the start of the oldest day of the status page. */
export function lastChange({ incidents, from }: FeedSource): Date {
  return incidents.reduce((last, { updatedAt }) => (updatedAt > last ? updatedAt : last), from);
}

/** The Atom feed: one entry per incident, with all its messages, newest first. */
export function atomFeed(source: FeedSource, consoleUrl: string): string {
  const page = `${consoleUrl}/status`;
  const entries = newestFirst(source.incidents).map(
    (incident) => `  <entry>
    <id>${xml(addressOf(incident, page))}</id>
    <title>${xml(incident.title)}</title>
    <link rel="alternate" href="${xml(addressOf(incident, page))}"/>
    <published>${incident.startsAt.toISOString()}</published>
    <updated>${incident.updatedAt.toISOString()}</updated>
    <content type="text">${xml(textOf(incident))}</content>
  </entry>
`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${xml(page)}</id>
  <title>${TITLE}</title>
  <author><name>Gateway</name></author>
  <link rel="alternate" href="${xml(page)}"/>
  <link rel="self" type="application/atom+xml" href="${xml(consoleUrl + ATOM_PATH)}"/>
  <updated>${lastChange(source).toISOString()}</updated>
${entries.join('')}</feed>
`;
}

/** The JSON feed, with the same items. */
export function jsonFeed(source: FeedSource, consoleUrl: string): string {
  const page = `${consoleUrl}/status`;
  return JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title: TITLE,
    home_page_url: page,
    feed_url: consoleUrl + JSON_PATH,
    items: newestFirst(source.incidents).map((incident) => ({
      id: addressOf(incident, page),
      url: addressOf(incident, page),
      title: incident.title,
      content_text: textOf(incident),
      date_published: incident.startsAt.toISOString(),
      date_modified: incident.updatedAt.toISOString(),
      tags: [incident.kind, incident.state, ...incident.modelNames, ...incident.families],
    })),
  });
}

function newestFirst(incidents: readonly Incident[]): Incident[] {
  return incidents.toSorted((left, right) => right.updatedAt.getTime() - left.updatedAt.getTime());
}

function addressOf({ id }: Incident, page: string): string {
  return `${page}#${id}`;
}

/** The affected models and families, and the messages with their times and states. */
function textOf({ modelNames, families, updates, startsAt, endsAt }: Incident): string {
  const affected = [...modelNames, ...families].join(', ') || 'all models';
  const planned = endsAt ? [`Planned from ${startsAt.toISOString()} to ${endsAt.toISOString()}.`] : [];
  const messages = updates.map(({ at, state, message }) => `${at.toISOString()} ${state}\n${message}`);
  return [`Affected: ${affected}.`, ...planned, ...messages].join('\n\n');
}

/** Characters that XML 1.0 does not allow, even as references: https://www.w3.org/TR/xml/#charsets */
// oxlint-disable-next-line no-control-regex
const NOT_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};

function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(NOT_XML, '')
    .replaceAll(/[&<>"\r]/g, (character) => REFERENCES[character] ?? '');
}
