// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ConfigEdit } from "./ConfigEdit";

/**
 * Params of `config/batchWrite`.
 */
export type ConfigBatchWriteParams = {
/**
 * The changes, in order.
 */
edits: Array<ConfigEdit>,
/**
 * Version of the file that the client knows. The write is refused if the file has another one.
 */
expectedVersion?: string | null,
/**
 * The file to write. Without it, the user's own file.
 */
filePath?: string | null,
/**
 * Whether running threads use the new settings.
 */
reloadUserConfig?: boolean | null, };
