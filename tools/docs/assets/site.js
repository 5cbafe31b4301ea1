// For screen readers and keyboards: the theme makes an unnamed landmark of every copy button, and tables that scroll but take no
// focus. Both are made after the page is loaded.
new MutationObserver(() => {
  for (const buttons of document.querySelectorAll("nav.md-code__nav:not([role])")) buttons.setAttribute("role", "none");
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) wrap.tabIndex = 0;
}).observe(document.documentElement, {childList: true, subtree: true});
