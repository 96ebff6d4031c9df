// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AbsolutePath } from "./AbsolutePath";
import type { NetworkAccess } from "./NetworkAccess";

/**
 * What commands of the model may touch.
 */
export type SandboxPolicy = { "type": "dangerFullAccess" } | { "type": "readOnly",
/**
 * Whether there is a network.
 */
networkAccess?: boolean | null, } | { "type": "externalSandbox",
/**
 * Whether there is a network.
 */
networkAccess?: NetworkAccess | null, } | { "type": "workspaceWrite",
/**
 * Whether `/tmp` stays closed.
 */
excludeSlashTmp?: boolean | null,
/**
 * Whether the directory that `TMPDIR` names stays closed.
 */
excludeTmpdirEnvVar?: boolean | null,
/**
 * Whether there is a network.
 */
networkAccess?: boolean | null,
/**
 * The directories that may be written, besides the working directory.
 */
writableRoots?: Array<AbsolutePath> | null, };
