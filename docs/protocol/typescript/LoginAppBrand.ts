// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A product whose name a login page shows.
 */
export type LoginAppBrand = "codex" | "chatgpt";
