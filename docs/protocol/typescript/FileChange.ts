// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A change of one file, as the older approval request has it.
 */
export type FileChange = { "type": "add",
/**
 * The text of the file.
 */
content: string, } | { "type": "delete",
/**
 * The text of the file.
 */
content: string, } | { "type": "update",
/**
 * What changes, as a unified diff.
 */
unified_diff: string,
/**
 * Where the file goes.
 */
move_path?: string | null, };
