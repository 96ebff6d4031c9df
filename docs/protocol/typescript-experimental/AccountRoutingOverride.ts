// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The region to which the requests of an account are sent, if it is not the default.
 */
export type AccountRoutingOverride = "NO_CONSTRAINT" | "us" | "us_cr";
