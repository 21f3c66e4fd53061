// Before the first paint, so that a page that was set to dark does not flash in light.
try {
  const theme = localStorage.getItem("relatum.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage may be forbidden; then the system's scheme is taken.
}
