/** The API explorer that browsers find at /graphql: GraphiQL, with a session or a pasted token. */
import 'graphiql/setup-workers/vite';
import 'graphiql/style.css';
import './explorer.css';
import { createGraphiQLFetcher } from '@graphiql/toolkit';
import { GraphiQL } from 'graphiql';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { theme } from '../components/theme.ts';

const FIRST_QUERY = `# The console's session counts here. To ask as a script does, write a token of your own
# (profile, access tokens) below "Headers": { "authorization": "Bearer gqt_…" }
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
/** A link may bring an operation along; it is shown, and runs only when somebody says so. */
const linked = new URLSearchParams(location.search).get('query');

// What is typed here may hold passwords and tokens: it lives as long as the tab, and headers not even that.
// The history, a plugin, would keep them.
createRoot(place).render(
  <StrictMode>
    <GraphiQL
      fetcher={fetcher}
      defaultQuery={FIRST_QUERY}
      {...(linked !== null && { initialQuery: linked })}
      defaultTheme={chosen === 'system' ? null : chosen}
      storage={sessionStorage}
      plugins={[]}
      showPersistHeadersSettings={false}
    >
      <GraphiQL.Logo>
        <a href="/">Gateway</a>
      </GraphiQL.Logo>
    </GraphiQL>
  </StrictMode>,
);
