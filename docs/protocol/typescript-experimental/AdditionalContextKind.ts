// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How far a text that a client adds is trusted.
 */
export type AdditionalContextKind = "untrusted" | "application";
