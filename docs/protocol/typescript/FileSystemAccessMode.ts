// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What may be done with a path.
 */
export type FileSystemAccessMode = "read" | "write" | "deny";
