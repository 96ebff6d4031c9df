// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The stream that output came on.
 */
export type ProcessOutputStream = "stdout" | "stderr";
