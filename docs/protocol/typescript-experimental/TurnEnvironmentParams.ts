// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An environment in which a turn's commands run.
 */
export type TurnEnvironmentParams = {
/**
 * The working directory.
 */
cwd: string,
/**
 * Id of the environment.
 */
environmentId: string,
/**
 * Directories that form the workspace.
 */
runtimeWorkspaceRoots?: Array<string> | null, };
