// Sets the theme before the first paint. A file of its own, because the content security policy allows no
// inline script.
(() => {
  let choice = 'system';
  try {
    choice = localStorage.getItem('theme') || 'system';
  } catch {
    // Storage may be forbidden; the system's choice is then used.
  }
  const wanted = matchMedia('(prefers-color-scheme: dark)').matches;
  const dark = choice === 'dark' || (choice !== 'light' && wanted);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
