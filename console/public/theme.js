// Sets the theme before the first paint. A separate file, because the content security policy forbids inline
// scripts.
(() => {
  let choice = 'system';
  try {
    choice = localStorage.getItem('theme') || 'system';
  } catch {
    // If storage is forbidden, use the system's theme.
  }
  const wanted = matchMedia('(prefers-color-scheme: dark)').matches;
  const dark = choice === 'dark' || (choice !== 'light' && wanted);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
