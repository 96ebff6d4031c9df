// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What happens to a file.
 */
export type PatchChangeKind = { "type": "add" } | { "type": "delete" } | { "type": "update",
/**
 * New path of the file, if it is moved.
 */
move_path?: string | null, };
