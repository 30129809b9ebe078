/** Entry point of the console. */
import './styles.css';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { followSystemTheme } from './components/theme.ts';
import { Console } from './console.tsx';
import { stopNotingForms } from './early.ts';
import { startI18n } from './i18n.ts';
import { consoleRouter } from './routes.tsx';

const place = document.getElementById('root');
if (!place) throw new Error('index.html has no #root');

const router = consoleRouter();
followSystemTheme();
await startI18n();
const isContinued = await canHydrate();
stopNotingForms();
if (isContinued) hydrateRoot(place, <Console router={router} fromHtml />);
else start();

/** Whether the HTML already shows this page. Loads the page, so that its first rendering is the same. */
async function canHydrate(): Promise<boolean> {
  if (!place?.hasChildNodes() || 'late' in document.documentElement.dataset) return false;
  // The router then renders the elements that it rendered during the build.
  router.ssr = { manifest: undefined };
  await router.load();
  return router.state.matches.every(({ status }) => status === 'success');
}

/** Renders the page in an empty document. */
function start(): void {
  if (!place) return;
  place.replaceChildren();
  delete document.documentElement.dataset['late'];
  createRoot(place).render(<Console router={router} />);
}
