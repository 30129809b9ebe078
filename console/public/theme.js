// Runs before the first paint. Sets the theme, and hides HTML that shows another page or language than the scripts
// will. A separate file, because the content security policy forbids inline scripts.
(() => {
  const root = document.documentElement;
  const recall = (name) => {
    try {
      return localStorage.getItem(name) || '';
    } catch {
      // If storage is forbidden, use the system's theme and language.
      return '';
    }
  };
  const choice = recall('theme') || 'system';
  const wanted = matchMedia('(prefers-color-scheme: dark)').matches;
  const dark = choice === 'dark' || (choice !== 'light' && wanted);
  root.dataset.theme = dark ? 'dark' : 'light';

  // The HTML of a page has no choice. It is set before the browser paints the select of the footer.
  const show = () => {
    const select = document.querySelector('select[name=theme]');
    if (select && (choice === 'light' || choice === 'dark')) select.value = choice;
  };
  document.addEventListener('readystatechange', show, { once: true });

  // The same choice as in i18n.ts.
  const primaryOf = (name) => name.split('-')[0];
  const languages = [recall('language'), ...navigator.languages].map(primaryOf);
  const language = languages.find((name) => name === 'en' || name === 'zh') || 'en';
  const isTest = recall('language') === 'en-XA';
  // A fragment may hold a secret that opens another view. "#content" is the place that the skip link leads to.
  const hasSecret = location.hash !== '' && location.hash !== '#content';
  if (isTest || language !== primaryOf(root.lang) || hasSecret) {
    root.dataset.late = '';
    // The title of the HTML is that of the other page or language. The scripts set the right one.
    document.title = 'Gateway';
  }
})();
