/**
 * The API explorer at /graphql: GraphiQL in the design of the console, with the console's session or a pasted
 * access token. The theme is the one of the console.
 */
import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './explorer.css';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { recall } from '../components/device-storage.ts';
import { followSystemTheme, theme } from '../components/theme.ts';
import { applyColours } from './colours.ts';
import { type ExplorerLanguage, Header, WORDS } from './header.tsx';

const FIRST_QUERY = `# Queries run with your console session. To use an access token instead, create one
# (Profile, Access tokens) and add it under "Headers": { "authorization": "Bearer gqt_…" }
query Start {
  viewer {
    displayName
    wallet {
      available
    }
  }
  catalog {
    nodes {
      name
      pricePerRequest
    }
  }
}
`;

const place = document.getElementById('explorer');
if (!place) throw new Error('index.html has no #explorer');

const address = new URL('/graphql', location.href);
const socket = new URL(address);
socket.protocol = address.protocol.replace('http', 'ws');
const fetcher = createGraphiQLFetcher({ url: address.href, subscriptionUrl: socket.href });
const chosen = theme.get();
const language: ExplorerLanguage = /^zh\b/.test(recall('language') ?? navigator.language) ? 'zh-CN' : 'en';
const root = document.documentElement;
document.title = WORDS[language].title;
followSystemTheme();
applyColours(root);
new MutationObserver(() => applyColours(root)).observe(root, { attributeFilter: ['data-theme'] });
/** An operation from the link. It is only shown; the user has to run it. */
const linked = new URLSearchParams(location.search).get('query');

// Queries may contain passwords and tokens: they are kept for this tab only, and headers are not kept at all.
// The history plugin is left out because it would store them.
createRoot(place).render(
  <StrictMode>
    <Header language={language} />
    <main className="explorer-editor">
      <GraphiQL
        fetcher={fetcher}
        defaultQuery={FIRST_QUERY}
        {...(linked !== null && { initialQuery: linked })}
        forcedTheme={chosen}
        storage={sessionStorage}
        plugins={[]}
        showPersistHeadersSettings={false}
      >
        <GraphiQL.Logo>
          <span />
        </GraphiQL.Logo>
      </GraphiQL>
    </main>
  </StrictMode>,
);
