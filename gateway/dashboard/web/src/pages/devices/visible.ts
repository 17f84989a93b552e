/** Nothing is asked for a page that nobody sees. */

/** When the page is seen: now, or when somebody comes back. */
export function visible(signal: AbortSignal): Promise<void> {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (document.hidden) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", () => {
      document.removeEventListener("visibilitychange", look);
      reject(signal.reason as Error);
    });
  });
}
