// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What made a client start a thread.
 */
export type ThreadStartSource = "startup" | "clear";
