// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The stream of an output.
 */
export type CommandExecOutputStream = "stdout" | "stderr";
