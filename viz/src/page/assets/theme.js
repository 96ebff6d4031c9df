/** The theme, light or dark. The page follows the system until the reader chooses. */

import { recall, remember } from "./memory.js";

/** The choices of the reader. */
export const CHOICES = ["auto", "light", "dark"];

/**
 * Returns the theme for a choice.
 *
 * @param {string} choice
 * @param {boolean} systemIsDark
 * @returns {"light"|"dark"}
 */
export function themeOf(choice, systemIsDark) {
  if (choice === "light" || choice === "dark") return choice;
  return systemIsDark ? "dark" : "light";
}

/**
 * Applies the stored choice, and follows changes of the system. Sends `theme` through the store on every change, for
 * what is drawn on canvases.
 *
 * @param {import("./store.js").Store} store
 * @returns {{choice: string, choose: (choice: string) => void}}
 */
export function startTheme(store) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const known = recall("theme");
  const theme = { choice: CHOICES.includes(known) ? known : "auto", choose };
  function apply() {
    const made = themeOf(theme.choice, system.matches);
    document.documentElement.dataset.theme = made;
    store.emit("theme", made);
  }
  function choose(choice) {
    theme.choice = choice;
    remember("theme", choice);
    apply();
  }
  system.addEventListener("change", apply);
  apply();
  return theme;
}
