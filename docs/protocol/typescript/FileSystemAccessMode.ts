// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Access mode of a path.
 */
export type FileSystemAccessMode = "read" | "write" | "deny";
