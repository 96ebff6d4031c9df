// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Why a client starts a thread.
 */
export type ThreadStartSource = "startup" | "clear";
