// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Where the requests of an account are sent, against the usual choice.
 */
export type AccountRoutingOverride = "NO_CONSTRAINT" | "us" | "us_cr";
