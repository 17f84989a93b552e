/** One clock for every age on the page. */

import { signal } from "@preact/signals";

/** Now, ms since the Unix epoch, once a second while the page is seen. */
export const now = signal(Date.now());

setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1000);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) now.value = Date.now();
});
